package dev.doorbell.core.print;

import dev.doorbell.core.memory.BigEndian;
import java.util.Map;

/** A table of big-endian words and their bit fields, one line a field. */
public final class FieldTable {
  private final StringBuilder text = new StringBuilder();
  private final long address;
  private int offset;
  private boolean wordShown;

  public FieldTable(long address) {
    this.address = address;
  }

  /** A line of its own. */
  public FieldTable title(String title) {
    text.append(title).append('\n');
    return this;
  }

  /** The fields that follow lie in the 4-byte word at {@code at}. */
  public FieldTable word(int at) {
    offset = at;
    wordShown = false;
    return this;
  }

  /** Bits {@code high:low} of the word. */
  public FieldTable field(String name, int high, int low, String meaning) {
    int width = high - low + 1;
    int value = (BigEndian.getInt(address + offset) >>> low) & (int) ((1L << width) - 1);
    String shown = width <= 3 ? "0b" + binary(value, width) : "0x%0" + (width + 3) / 4 + "x";
    row(name, high == low ? "" + high : high + ":" + low, shown.formatted(value), meaning);
    return this;
  }

  /**
   * Adds the fields of a structure.
   *
   * @param at offset of the structure
   * @param rows {@code ROWS} of its generated class
   * @param meanings explanations by label, in place of those in {@code rows}
   */
  public FieldTable rows(int at, String rows, Map<String, String> meanings) {
    int shown = -1;
    for (String row : rows.lines().toList()) {
      String[] cells = row.split(" ", 4);
      int bar = cells[3].indexOf('|');
      String label = cells[3].substring(0, bar);
      int from = at + Integer.parseInt(cells[0]);
      int high = Integer.parseInt(cells[1]);
      int low = Integer.parseInt(cells[2]);
      if (high < 0) {
        words(label, from, low);
      } else if (high == Long.SIZE - 1) {
        wide(label, from);
      } else {
        if (from != shown) {
          word(from);
        }
        field(label, high, low, meanings.getOrDefault(label, cells[3].substring(bar + 1)));
      }
      shown = from;
    }
    return this;
  }

  /** A field of the 8 bytes at {@code at}. */
  public FieldTable wide(String name, int at) {
    word(at);
    row(name, "63:0", "0x%016x".formatted(BigEndian.getLong(address + at)), "");
    word(at + Integer.BYTES);
    row("", "", "", "");
    return this;
  }

  /** The words of {@code [from, from + bytes)} as they are. */
  public FieldTable words(String name, int from, int bytes) {
    for (int at = from; at < from + bytes; at += Integer.BYTES) {
      word(at);
      row(at == from ? name : "", "", "", "");
    }
    return this;
  }

  private void row(String name, String bits, String value, String meaning) {
    String at = wordShown ? "" : "+%02x".formatted(offset);
    String dword = wordShown ? "" : "%08x".formatted(BigEndian.getInt(address + offset));
    wordShown = true;
    text.append(
            "  %-4s %-8s  %-24s %5s  %-18s  %s"
                .formatted(at, dword, name, bits, value, meaning)
                .stripTrailing())
        .append('\n');
  }

  private static String binary(int value, int width) {
    StringBuilder bits = new StringBuilder(width);
    for (int bit = width - 1; bit >= 0; bit--) {
      bits.append((value >>> bit) & 1);
    }
    return bits.toString();
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
