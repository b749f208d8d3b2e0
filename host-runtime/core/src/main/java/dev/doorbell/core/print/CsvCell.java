package dev.doorbell.core.print;

import java.util.regex.Pattern;

/** Text for a cell of comma-separated values. */
public final class CsvCell {
  private static final Pattern NUMBER =
      Pattern.compile("[+-]?[0-9.][0-9.,]*(?:[eE][+-]?[0-9]+)?(?: ?[\\p{L}%/]+)*");

  private CsvCell() {}

  /**
   * Returns a text that a spreadsheet shows and does not compute: one that begins as a formula does
   * gets an apostrophe in front. Numbers, with or without a unit, and a lone sign stay as they are.
   */
  public static String text(String text) {
    boolean formula =
        text.length() > 1
            && "=+-@\t\r".indexOf(text.charAt(0)) >= 0
            && !NUMBER.matcher(text).matches();
    return formula ? "'" + text : text;
  }
}
