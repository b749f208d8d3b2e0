package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.UsageException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Format in which buffers are shown: {@code hex}, or as values of a type. */
record KernelDump(int argument, String type) {
  private static final List<String> TYPES =
      List.of("hex", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64");
  private static final int ROW = 16;

  static final KernelDump HEX = new KernelDump(0, "hex");

  /** Reads {@code TYPE} or {@code N:TYPE}; N counts arguments from 1, 0 stands for all. */
  static KernelDump parse(String text, int arguments) throws UsageException {
    int colon = text.indexOf(':');
    String type = text.substring(colon + 1);
    String number = colon < 0 ? "0" : text.substring(0, colon);
    if (!TYPES.contains(type)) {
      throw bad(text, "no type '%s'%s".formatted(type, Nearest.suggestion(type, TYPES)));
    }
    if (!number.matches("[0-9]{1,4}") || (colon >= 0 && number.equals("0"))) {
      throw bad(text, "'%s' is no number of an argument, from 1".formatted(number));
    }
    int argument = Integer.parseInt(number);
    if (argument > arguments) {
      throw bad(text, "there are only %d arguments".formatted(arguments));
    }
    return new KernelDump(argument, type);
  }

  private static UsageException bad(String text, String what) {
    return UsageException.of(
        "DB-K016",
        "--dump " + text,
        what,
        "TYPE or N:TYPE, where TYPE is one of " + String.join(", ", TYPES));
  }

  List<String> rows(byte[] bytes, int most) {
    int shown = Math.min(bytes.length, most);
    List<String> rows = new ArrayList<>();
    for (int at = 0; at < shown; at += ROW) {
      int end = Math.min(shown, at + ROW);
      rows.add(
          "%08x  %s"
              .formatted(at, type.equals("hex") ? hex(bytes, at, end) : typed(bytes, at, end)));
    }
    if (shown < bytes.length) {
      rows.add("...       %,d more bytes (--dump-bytes)".formatted(bytes.length - shown));
    }
    return rows;
  }

  private static String hex(byte[] bytes, int from, int to) {
    StringBuilder digits = new StringBuilder();
    StringBuilder text = new StringBuilder();
    for (int i = from; i < from + ROW; i++) {
      digits.append(i == from ? "" : i == from + ROW / 2 ? "  " : " ");
      digits.append(i < to ? "%02x".formatted(bytes[i] & 0xff) : "  ");
      if (i < to) {
        text.append(bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char) bytes[i] : '.');
      }
    }
    return digits + "  |" + text + "|";
  }

  private String typed(byte[] bytes, int from, int to) {
    int size = Integer.parseInt(type.substring(1)) / Byte.SIZE;
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    List<String> values = new ArrayList<>();
    for (int at = from; at + size <= to; at += size) {
      values.add(value(buffer, at));
    }
    if ((to - from) % size != 0) {
      values.add("+%d bytes".formatted((to - from) % size));
    }
    return String.join("  ", values);
  }

  private String value(ByteBuffer bytes, int at) {
    return switch (type) {
      case "u8" -> Integer.toString(bytes.get(at) & 0xff);
      case "s8" -> Byte.toString(bytes.get(at));
      case "u16" -> Integer.toString(bytes.getShort(at) & 0xffff);
      case "s16" -> Short.toString(bytes.getShort(at));
      case "u32" -> Integer.toUnsignedString(bytes.getInt(at));
      case "s32" -> Integer.toString(bytes.getInt(at));
      case "f32" -> Float.toString(bytes.getFloat(at));
      case "u64" -> Long.toUnsignedString(bytes.getLong(at));
      case "s64" -> Long.toString(bytes.getLong(at));
      default -> Double.toString(bytes.getDouble(at));
    };
  }
}
