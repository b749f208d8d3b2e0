package dev.doorbell.experiments.config.value;

import java.util.OptionalLong;

/** Numbers with the suffixes K, M and G, which mean 2^10, 2^20 and 2^30. */
public final class Sizes {
  private static final String SUFFIXES = "KMG";

  private Sizes() {}

  /** The number, or nothing when the text is not one or does not fit 63 bits. */
  public static OptionalLong parse(String text) {
    if (text.isEmpty()) {
      return OptionalLong.empty();
    }
    int suffix = SUFFIXES.indexOf(text.charAt(text.length() - 1));
    String digits = suffix < 0 ? text : text.substring(0, text.length() - 1);
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Math.multiplyExact(Long.parseLong(digits), 1L << (10 * (suffix + 1))));
    } catch (ArithmeticException | NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /** {@code 4 KiB} for 4096; bytes that are no whole multiple stay bytes. */
  public static String bytes(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    long value = bytes;
    while (unit < 3 && value != 0 && value % 1024 == 0) {
      value /= 1024;
      unit++;
    }
    return value + " " + units[unit];
  }
}
