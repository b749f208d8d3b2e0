package dev.doorbell.experiments.results.print;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Numbers as readers of the field write them. Independent of the locale. */
public final class Units {

  /** Keeps a number and its unit on one line. */
  private static final String NBSP = "\u00A0";

  private static final String[] BINARY = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  private static final String[] TIMES = {"ns", "µs", "ms", "s"};

  private Units() {}

  /** Returns a number with its noun: 1 race, 2 races. */
  public static String count(long number, String one) {
    return String.format(Locale.ROOT, "%,d %s%s", number, one, number == 1 ? "" : "s");
  }

  /**
   * Bytes in the largest binary unit that keeps the number at or above one, to three digits: 28 B,
   * 1.5 KiB, 1 MiB.
   */
  public static String bytes(double bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= 1023.5 && unit < BINARY.length - 1) {
      value /= 1024;
      unit++;
    }
    return digits(value, 3) + NBSP + BINARY[unit];
  }

  /**
   * Bytes in the largest binary unit that gives a whole number, so that nothing is rounded: 220 B,
   * 4 KiB, 1 MiB.
   */
  public static String exactBytes(long bytes) {
    int unit = 0;
    long value = bytes;
    while (value != 0 && value % 1024 == 0 && unit < BINARY.length - 1) {
      value /= 1024;
      unit++;
    }
    return value + NBSP + BINARY[unit];
  }

  /**
   * Nanoseconds in the unit that keeps the number between one and a thousand, to three digits: 594
   * ns, 1.42 µs.
   */
  public static String time(double ns) {
    int unit = 0;
    double value = ns;
    while (Math.abs(value) >= 999.5 && unit < TIMES.length - 1) {
      value /= 1000;
      unit++;
    }
    return digits(value, 3) + NBSP + TIMES[unit];
  }

  /** A value with its unit, times and bytes scaled. */
  public static String quantity(double value, String unit) {
    return switch (unit) {
      case "ns" -> time(value);
      case "B" -> bytes(value);
      case "" -> digits(value, 4);
      default -> digits(value, 3) + NBSP + unit;
    };
  }

  /**
   * Rounded to significant digits and written without an exponent or trailing zeros; whole numbers
   * stay whole.
   */
  public static String digits(double value, int digits) {
    if (value == 0) {
      return "0";
    }
    BigDecimal exact = BigDecimal.valueOf(value);
    BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
    if (rounded.scale() < 0 || rounded.precision() - rounded.scale() >= digits) {
      rounded = exact.setScale(0, RoundingMode.HALF_EVEN);
    }
    return rounded.stripTrailingZeros().toPlainString();
  }

  /** With all its digits and no exponent, for other programs. */
  public static String plain(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }

  /** With a fixed number of decimals, for columns that line up. */
  public static String fixed(double value, int decimals) {
    return BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** The name of a metric with its unit, times in microseconds. */
  public static String heading(String metric, String unit) {
    return (metric + " " + (unit.equals("ns") ? "µs" : unit)).strip();
  }

  /** A relative difference in percent with its sign. */
  public static String difference(double ratio) {
    String percent = fixed(100 * Math.abs(ratio), 1) + " %";
    return (percent.equals("0.0 %") ? "" : ratio < 0 ? "−" : "+") + percent;
  }
}
