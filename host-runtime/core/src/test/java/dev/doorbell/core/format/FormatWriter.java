package dev.doorbell.core.format;

import dev.doorbell.core.format.FormatTable.Choice;
import dev.doorbell.core.format.FormatTable.Constant;
import dev.doorbell.core.format.FormatTable.Described;
import dev.doorbell.core.format.FormatTable.Field;
import dev.doorbell.core.format.FormatTable.Row;
import dev.doorbell.core.format.FormatTable.Writer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Writes the Java class of a described format. */
final class FormatWriter {
  private final Described described;
  private final String access;
  private final StringBuilder out = new StringBuilder();
  private final Map<String, Field> fields = new HashMap<>();

  private FormatWriter(Described described) {
    this.described = described;
    this.access = described.bigEndian ? "BigEndian" : "RawMemory";
    described.fields.forEach(field -> fields.put(field.name(), field));
  }

  static String write(String packageName, String source, Described described) {
    FormatWriter writer = new FormatWriter(described);
    writer.body();
    String body = writer.out.toString();
    StringBuilder file = new StringBuilder();
    file.append("package ").append(packageName).append(".generated;\n\n");
    if (body.contains("BigEndian.")) {
      file.append("import dev.doorbell.core.memory.BigEndian;\n");
    }
    if (body.contains("RawMemory.")) {
      file.append("import dev.doorbell.core.memory.RawMemory;\n");
    }
    if (body.contains("PrmField(")) {
      file.append("import dev.doorbell.core.mlx5.prm.PrmField;\n");
    }
    file.append("import javax.annotation.processing.Generated;\n\n");
    List<String> docs = new ArrayList<>(described.docs);
    docs.add("");
    docs.add("<p>Written by FormatsTest from src/main/formats/" + source + ".");
    file.append(javadoc(String.join("\n", docs)));
    file.append("@Generated(\"FormatsTest\")\npublic class ").append(described.name).append(" {\n");
    return file.append(body).append("}\n").toString();
  }

  static String javadoc(String text) {
    return text.isEmpty() ? "" : "/** " + text.replace("\n", "\n * ") + " */\n";
  }

  private void body() {
    if (described.bytes > 0) {
      constant(new Constant("int", "BYTES", "" + described.bytes, "Bytes of the structure."));
    }
    for (Field field : described.fields) {
      if (described.firmware) {
        firmwareField(field);
      } else {
        offset(field);
      }
    }
    described.constants.forEach(this::constant);
    rows();
    out.append("protected ").append(described.name).append("() {}\n\n");
    if (!described.firmware) {
      described.fields.forEach(this::getter);
      described.writers.forEach(this::writer);
      line();
    }
    described.choices.values().forEach(this::choice);
  }

  private void constant(Constant constant) {
    out.append(javadoc(constant.doc()))
        .append(
            "public static final %s %s = %s;%n%n"
                .formatted(constant.type(), constant.name(), constant.value()));
  }

  private void firmwareField(Field field) {
    out.append(javadoc(field.doc()));
    out.append(
        field.size() == Long.BYTES
            ? "public static final int %s_OFFSET = 0x%x;%n%n"
                .formatted(field.name(), field.offset())
            : "public static final PrmField %s = new PrmField(0x%x, %d, %d);%n%n"
                .formatted(field.name(), field.offset(), field.high(), field.low()));
  }

  private void offset(Field field) {
    String name = field.offsetName();
    if (name.isEmpty()) {
      name = field.whole() ? upper(field.name()) + "_OFFSET" : "-";
    }
    if (!name.equals("-")) {
      out.append("public static final int %s = 0x%02x;%n%n".formatted(name, field.offset()));
    }
  }

  private static String upper(String name) {
    return name.replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
  }

  private void rows() {
    if (described.rows.isEmpty()) {
      return;
    }
    StringBuilder text = new StringBuilder();
    for (Row row : described.rows) {
      text.append(
          "%d %d %d %s|%s%n"
              .formatted(row.offset(), row.high(), row.low(), row.label(), row.meaning()));
    }
    constant(
        new Constant(
            "String",
            "ROWS",
            "\"\"\"\n" + text + "\"\"\"",
            "The fields that {@code FieldTable.rows} shows."));
  }

  private String load(Field field) {
    String at = "at" + (field.offset() == 0 ? "" : " + 0x%02x".formatted(field.offset()));
    return switch (field.size()) {
      case 1 -> "RawMemory.getByte(" + at + ")";
      case 2 -> access + ".getShort(" + at + ")";
      case 4 -> access + ".getInt(" + at + ")";
      default -> access + ".getLong(" + at + ")";
    };
  }

  private void getter(Field field) {
    String value = load(field);
    int low = field.low();
    int top = field.size() * Byte.SIZE - 1;
    if (field.size() == 6) {
      value += " >>> 16";
    } else if (field.isFlag()) {
      value = "(" + value + (low == 0 ? "" : " >>> " + low) + " & 1) != 0";
    } else if (!field.whole() || field.size() < Integer.BYTES) {
      if (low > 0) {
        value += " >>> " + low;
      }
      boolean narrow = field.size() == Long.BYTES && field.type().equals("int");
      if (narrow) {
        value = "(int) (" + value + ")";
      }
      boolean masked = field.high() < top || field.size() < Integer.BYTES;
      if (masked && !(narrow && field.width() == Integer.SIZE)) {
        value += " & " + mask(field.width(), field.type().equals("long"));
      }
    }
    out.append(javadoc(field.doc()))
        .append(
            "public static %s %s(long at) { return %s; }%n%n"
                .formatted(field.type(), field.name(), value));
  }

  private static String mask(int width, boolean wide) {
    return "0x%x%s".formatted(width == Long.SIZE ? -1L : (1L << width) - 1, wide ? "L" : "");
  }

  private void writer(Writer writer) {
    List<String> parameters = new ArrayList<>();
    Map<Field, String> values = new LinkedHashMap<>();
    for (String entry : writer.fields()) {
      Field field = fields.get(entry);
      if (field == null) {
        throw new IllegalStateException(described.name + " has no field " + entry);
      }
      String value = writer.values().get(entry);
      if (value == null) {
        value = parameter(entry);
        parameters.add(", " + field.type() + " " + value);
      }
      values.put(field, value);
    }
    out.append(javadoc(writer.doc()));
    out.append(
        "public static void %s(long at%s) {%n"
            .formatted(writer.name(), String.join("", parameters)));
    if (writer.partial()) {
      values.forEach((field, value) -> store(field.offset(), field.size(), value));
    } else {
      stores(values);
    }
    out.append("}\n\n");
  }

  /** The name of a field without the verb of a question. */
  private static String parameter(String field) {
    String name = field.replaceFirst("^(is|wants)(?=[A-Z])", "");
    return name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
  }

  /** Stores units of 8 bytes where no field lies across their ends, else smaller ones. */
  private void stores(Map<Field, String> values) {
    int at = 0;
    while (at < described.bytes) {
      int size = unit(at);
      Map<Integer, String> parts = new TreeMap<>();
      for (Map.Entry<Field, String> entry : values.entrySet()) {
        Field field = entry.getKey();
        if (field.offset() >= at && field.offset() < at + size) {
          parts.put(
              -shift(field, at, size), term(field, entry.getValue(), shift(field, at, size), size));
        }
      }
      store(at, size, parts.isEmpty() ? "0" : String.join(" | ", parts.values()));
      at += size;
    }
  }

  private int unit(int at) {
    for (int size : new int[] {8, 4, 2, 1}) {
      if (at + size > described.bytes || at % Math.min(size, 4) != 0) {
        continue;
      }
      int end = at + size;
      boolean split =
          described.fields.stream()
              .anyMatch(f -> f.offset() < end && f.offset() + f.size() > end && f.offset() >= at);
      if (!split) {
        return size;
      }
    }
    throw new IllegalStateException(described.name + ": fields overlap at " + at);
  }

  private int shift(Field field, int at, int size) {
    int bytes = field.offset() - at;
    return (described.bigEndian ? size - bytes - field.size() : bytes) * Byte.SIZE + field.low();
  }

  private static String term(Field field, String value, int shift, int size) {
    boolean wide = size == Long.BYTES;
    String shifted = shift == 0 ? "" : " << " + shift;
    if (value.matches("[A-Z_0-9x]+")) {
      return (wide ? "(long) " : "") + value + shifted;
    }
    if (field.isFlag()) {
      return "(%s ? 1%s%s : 0)".formatted(value, wide ? "L" : "", shifted);
    }
    if (field.type().equals("long")) {
      boolean top = shift + field.width() == Long.SIZE;
      return (top ? value : "(" + value + " & " + mask(field.width(), true) + ")") + shifted;
    }
    boolean top = shift + field.width() == size * Byte.SIZE;
    if (top && wide) {
      return "(long) " + value + shifted;
    }
    return (top ? value : "(" + value + " & " + mask(field.width(), wide) + ")") + shifted;
  }

  private void store(int at, int size, String value) {
    String place = "at" + (at == 0 ? "" : " + 0x%02x".formatted(at));
    String statement =
        switch (size) {
          case 1 -> "RawMemory.putByte(%s, (byte) (%s));%n";
          case 2 -> access + ".putShort(%s, (short) (%s));%n";
          case 4 -> access + ".putInt(%s, %s);%n";
          default -> access + ".putLong(%s, %s);%n";
        };
    out.append(statement.formatted(place, value));
  }

  private void line() {
    if (described.line.isEmpty()) {
      return;
    }
    String values =
        described.shown.stream()
            .map(
                name ->
                    name.endsWith("?u")
                        ? "Integer.toUnsignedString(" + name.replace("?u", "") + "(at))"
                        : name + "(at)")
            .collect(Collectors.joining(", "));
    out.append(javadoc("Shows the fields in one line."));
    out.append("public static String line(long at) { return \"")
        .append(described.line + "\".formatted(" + values + "); }\n\n");
  }

  private void choice(Choice choice) {
    out.append(javadoc(choice.doc()));
    out.append(
        "public static %s %s(int code) { return switch (code) {%n"
            .formatted(choice.text() ? "String" : "boolean", choice.name()));
    if (choice.text()) {
      choice
          .answers()
          .forEach((code, text) -> out.append("case %s -> \"%s\";%n".formatted(code, text)));
      String otherwise = choice.otherwise();
      out.append(
          "default -> \""
              + otherwise
              + "\""
              + (otherwise.contains("%") ? ".formatted(code)" : "")
              + ";\n");
    } else {
      out.append(
          "case %s -> true;%ndefault -> false;%n"
              .formatted(choice.answers().keySet().stream().collect(Collectors.joining(", "))));
    }
    out.append("}; }\n\n");
  }
}
