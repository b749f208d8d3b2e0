package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Value;
import java.util.Locale;

/** Numbers as people read them. */
public final class Show {
  private Show() {}

  /** A value of an axis: bytes and times with their unit, everything else as it is. */
  public static String value(Value value, String unit) {
    if (!(value instanceof Value.Whole(long number)) || unit.isEmpty()) {
      return value.text();
    }
    return unit.equals("B") ? Sizes.bytes(number) : number + " " + unit;
  }

  /** Microseconds in three or four digits; the table's header names the unit. */
  public static String micros(double nanos) {
    return digits(nanos / 1e3);
  }

  /** A number in about three digits, never with an exponent. */
  public static String digits(double value) {
    double magnitude = Math.abs(value);
    int decimals = magnitude == 0 || magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : 2;
    if (magnitude > 0 && magnitude < 1) {
      decimals = (int) Math.min(9, 2 - Math.floor(Math.log10(magnitude)));
    }
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }

  /** Minutes and seconds. */
  public static String minutes(long nanos) {
    long seconds = Math.max(0, Math.round(nanos / 1e9));
    return String.format(Locale.ROOT, "%02d:%02d", seconds / 60, seconds % 60);
  }

  /** How many of something: 1 race, 2 races. */
  public static String count(long number, String one) {
    return String.format(Locale.ROOT, "%,d %s%s", number, one, number == 1 ? "" : "s");
  }

  /** A relative difference with its sign. */
  public static String percent(double ratio) {
    return String.format(Locale.ROOT, "%+.1f %%", ratio * 100);
  }

  /** Bytes that lie between whole units, as crossovers do. */
  public static String roughBytes(double bytes) {
    if (bytes < 1024) {
      return String.format(Locale.ROOT, "%.0f B", bytes);
    }
    double kib = bytes / 1024;
    return kib < 1024
        ? String.format(Locale.ROOT, kib < 10 ? "%.1f KiB" : "%.0f KiB", kib)
        : String.format(Locale.ROOT, kib < 10240 ? "%.1f MiB" : "%.0f MiB", kib / 1024);
  }

  /** Describes the basis of the numbers. */
  public static String basis(Basis basis) {
    return switch (basis) {
      case MODELLED -> "MODELLED RESULT (virtual time) - not a hardware measurement";
      case EMULATED -> "EMULATED RESULT (wall time of the emulation) - says nothing about an HCA";
      case MEASURED -> "MEASURED RESULT (wall time on this hardware)";
    };
  }
}
