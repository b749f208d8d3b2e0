package dev.doorbell.experiments.config.value;

import java.math.BigDecimal;

/** One value of an axis or of a fixed setting. */
public sealed interface Value {

  /** The canonical text: what a CSV cell, a point's id and a condition hold. */
  String text();

  /** A word, such as a path or a placement. */
  record Text(String text) implements Value {}

  /** A whole number; sizes are in bytes. */
  record Whole(long value) implements Value {
    @Override
    public String text() {
      return Long.toString(value);
    }
  }

  record Real(double value) implements Value {
    @Override
    public String text() {
      return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }
  }

  record Flag(boolean value) implements Value {
    @Override
    public String text() {
      return Boolean.toString(value);
    }
  }
}
