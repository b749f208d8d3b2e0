package dev.doorbell.doctor.facts;

import java.util.Arrays;
import java.util.Comparator;

/** Numbers inside version strings. */
final class Versions {
  /** Compares the numbers between the dots: 570.124.06 is newer than 570.86.15. */
  static final Comparator<String> ORDER = Comparator.comparing(Versions::numbers, Arrays::compare);

  private Versions() {}

  private static int[] numbers(String version) {
    return Arrays.stream(version.split("\\.", -1)).mapToInt(Versions::number).toArray();
  }

  /** The digits that a text starts with, as a number; 0 where there are none or too many. */
  static int number(String text) {
    int end = 0;
    while (end < text.length() && end < 9 && Character.isDigit(text.charAt(end))) {
      end++;
    }
    return end == 0 ? 0 : Integer.parseInt(text.substring(0, end));
  }
}
