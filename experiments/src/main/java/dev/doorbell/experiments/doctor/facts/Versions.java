package dev.doorbell.experiments.doctor.facts;

/** Numbers inside version strings. */
final class Versions {
  private Versions() {}

  /** The digits that a text starts with, as a number; 0 where there are none or too many. */
  static int number(String text) {
    int end = 0;
    while (end < text.length() && end < 9 && Character.isDigit(text.charAt(end))) {
      end++;
    }
    return end == 0 ? 0 : Integer.parseInt(text.substring(0, end));
  }
}
