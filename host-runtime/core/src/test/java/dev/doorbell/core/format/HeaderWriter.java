package dev.doorbell.core.format;

import dev.doorbell.core.format.FormatTable.Constant;
import dev.doorbell.core.format.FormatTable.Described;
import dev.doorbell.core.queue.CHeader;
import dev.doorbell.core.queue.CHeader.Field;
import dev.doorbell.core.queue.CHeader.Struct;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes the Java class of a structure of one of the project's C headers. */
final class HeaderWriter {
  private static final Pattern COMMENT =
      Pattern.compile(
          "^(?:#define (\\w+) .*?|\\s+uint\\d+_t (\\w+)(?:\\[\\d+\\])?;)\\s*// (.*)$",
          Pattern.MULTILINE);

  private final Described described;
  private final StringBuilder out = new StringBuilder();
  private final Map<String, String> names = new HashMap<>();
  private final Set<String> keys = new TreeSet<>();
  private final List<String> with = new ArrayList<>();
  private final Map<String, Field> fields = new LinkedHashMap<>();
  private final Map<String, String> comments = new HashMap<>();
  private String path = "";
  private String structName = "";
  private String kind = "constants";
  private boolean decodes;

  private HeaderWriter(Described described) {
    this.described = described;
  }

  static String write(String packageName, Described described) throws IOException {
    HeaderWriter writer = new HeaderWriter(described);
    String members = writer.members();
    String body = writer.shape(members);
    StringBuilder file = new StringBuilder("package " + packageName + ".generated;\n\n");
    if (body.contains("BigEndian.")) {
      file.append("import dev.doorbell.core.memory.BigEndian;\n");
    }
    if (body.contains("ByteBuffer.")) {
      file.append("import java.nio.ByteBuffer;\nimport java.nio.ByteOrder;\n");
    }
    file.append("import javax.annotation.processing.Generated;\n\n");
    return file.append(body).toString();
  }

  private String members() throws IOException {
    CHeader header = new CHeader(Map.of(), Map.of());
    for (String line : described.header) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "from" -> {
          path = "kernels/include/doorbell/" + words[1];
          header = CHeader.read(path);
          readComments();
          if (words.length > 2) {
            struct(header, words);
          }
        }
        case "keys" -> keys.addAll(List.of(words).subList(1, words.length));
        case "macros" ->
            header
                .constants()
                .forEach(
                    (name, value) -> {
                      if (name.startsWith(words[1])) {
                        macro(words[2] + name.substring(words[1].length()), name, value);
                      }
                    });
        case "macro" ->
            macro(
                words[2],
                words[1],
                Objects.requireNonNull(header.constants().get(words[1]), words[1]));
        case "offsets" ->
            offsets(words, Objects.requireNonNull(header.structs().get(words[2]), words[2]));
        case "names" ->
            names(words[1], words[2], line.substring(line.indexOf('"') + 1, line.lastIndexOf('"')));
        case "with" -> with.addAll(List.of(words).subList(1, words.length));
        default -> decodes = true;
      }
    }
    for (Constant constant : described.constants) {
      constant(constant.type(), constant.name(), constant.value(), constant.doc());
    }
    return out.toString();
  }

  private void readComments() throws IOException {
    String text = Files.readString(CHeader.locate(path));
    for (Matcher each = COMMENT.matcher(text); each.find(); ) {
      String name = each.group(1) == null ? each.group(2) : each.group(1);
      comments.put(
          name,
          each.group(3).strip().replace("&", "&amp;").replace("<", "&lt;").replace("*/", "*"));
    }
  }

  private void struct(CHeader header, String[] words) {
    structName = words[2];
    kind = words[3];
    for (int i = 4; i < words.length; i++) {
      String[] pair = words[i].split("=", -1);
      names.put(pair[0], pair[1]);
    }
    Struct struct = Objects.requireNonNull(header.structs().get(structName), structName);
    struct
        .fields()
        .forEach(
            (name, field) -> {
              if (!isPadding(name)) {
                fields.put(name, field);
              }
            });
    constant("int", "BYTES", "" + struct.bytes(), "Bytes of the structure.");
  }

  private static boolean isPadding(String name) {
    return name.equals("reserved") || name.endsWith("_pad");
  }

  private void offsets(String[] words, Struct struct) {
    String prefix = words[1].replace("-", "");
    String renamed = words.length > 3 ? words[3] : "=";
    constant("int", prefix + "BYTES", "" + struct.bytes(), "");
    struct
        .fields()
        .forEach(
            (name, field) -> {
              if (!name.endsWith("_pad") && !(isPadding(name) && field.elements() > 1)) {
                String javaName =
                    renamed.startsWith(name + "=")
                        ? renamed.substring(renamed.indexOf('=') + 1)
                        : name.toUpperCase(Locale.ROOT);
                constant("int", prefix + javaName, "" + field.offset(), "");
              }
            });
  }

  private void macro(String javaName, String name, long value) {
    boolean wide = value != (int) value || value < 0;
    constant(
        wide ? "long" : "int",
        javaName,
        "0x%x%s".formatted(value, wide ? "L" : ""),
        comments.containsKey(name) ? "{@code %s}: %s".formatted(name, comments.get(name)) : "");
  }

  /** Writes a function that names the constants so far with a prefix. */
  private void names(String function, String prefix, String otherwise) {
    out.append("/** Names one of {@code %s*}. */%n".formatted(prefix));
    out.append("public static String %s(int code) { return switch (code) {%n".formatted(function));
    Pattern constants = Pattern.compile("int (" + prefix + "(\\w+)) =");
    for (Matcher each = constants.matcher(out.toString()); each.find(); ) {
      out.append(
          "case %s -> \"%s\";%n".formatted(each.group(1), each.group(2).toLowerCase(Locale.ROOT)));
    }
    out.append("default -> \"%s\".formatted(code);%n}; }%n%n".formatted(otherwise));
  }

  private void constant(String type, String name, String value, String doc) {
    out.append(FormatWriter.javadoc(doc))
        .append("public static final %s %s = %s;%n%n".formatted(type, name, value));
  }

  private String java(String name) {
    String given = names.get(name);
    if (given != null) {
      return given;
    }
    StringBuilder camel = new StringBuilder();
    for (String part : name.split("_", -1)) {
      camel.append(
          camel.isEmpty()
              ? part
              : part.substring(0, 1).toUpperCase(Locale.ROOT) + part.substring(1));
    }
    return camel.toString();
  }

  private static String type(Field field) {
    return field.width() == Long.BYTES ? "long" : "int";
  }

  private String comment(String name) {
    String key = keys.contains(name) ? " Given as the HCA assigned it; stored byte-swapped." : "";
    return "{@code %s}: %s%s".formatted(name, comments.getOrDefault(name, "see the header"), key);
  }

  private String shape(String members) {
    List<String> docs = new ArrayList<>(described.docs);
    docs.add("");
    docs.add("<p>Written by FormatsTest from " + path + ".");
    String open;
    switch (kind) {
      case "record" -> {
        docs.add("");
        List<String> components = new ArrayList<>();
        fields.forEach(
            (name, field) -> {
              docs.add("@param %s %s".formatted(java(name), comment(name)));
              components.add(type(field) + " " + java(name));
            });
        open = "public record %s(%s) {%n".formatted(described.name, String.join(", ", components));
      }
      default -> open = "public class %s {%n".formatted(described.name);
    }
    StringBuilder text = new StringBuilder(FormatWriter.javadoc(String.join("\n", docs)));
    text.append("@Generated(\"FormatsTest\")\n").append(open).append(members);
    if (kind.equals("mutable")) {
      fields.forEach(
          (name, field) ->
              text.append(FormatWriter.javadoc(comment(name)))
                  .append("public %s %s;%n%n".formatted(type(field), java(name))));
    }
    if (!kind.equals("record")) {
      text.append("protected " + described.name + "() {}\n\n");
    }
    if (!fields.isEmpty()) {
      encode(text);
    }
    if (decodes) {
      decode(text);
    }
    with.forEach(name -> with(text, name));
    return text.append("}\n").toString();
  }

  private void encode(StringBuilder text) {
    text.append(
        """
        /** Returns the structure's bytes. */
        public byte[] encode() {
          byte[] encoded = new byte[BYTES];
          encode(encoded, 0);
          return encoded;
        }

        /** Writes the structure's bytes at {@code offset}. */
        public void encode(byte[] into, int offset) {
          ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
        """);
    fields.forEach(
        (name, field) -> {
          String value = "this." + java(name);
          text.append(
              "to.put%s(%d, %s);%n"
                  .formatted(
                      field.width() == Long.BYTES ? "Long" : "Int",
                      field.offset(),
                      keys.contains(name) ? "BigEndian.swap(" + value + ")" : value));
        });
    text.append("}\n\n");
  }

  private void decode(StringBuilder text) {
    List<String> values = new ArrayList<>();
    fields.forEach(
        (name, field) ->
            values.add(
                "from.get%s(%d)"
                    .formatted(field.width() == Long.BYTES ? "Long" : "Int", field.offset())));
    text.append(
        """
        /** Reads the structure's bytes. */
        public static %1$s decode(byte[] bytes) {
          ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
          return new %1$s(%2$s);
        }

        """
            .formatted(described.name, String.join(", ", values)));
  }

  private void with(StringBuilder text, String changed) {
    String parameter = java(changed);
    String method =
        "with" + parameter.substring(0, 1).toUpperCase(Locale.ROOT) + parameter.substring(1);
    List<String> values = new ArrayList<>();
    fields.keySet().forEach(name -> values.add(java(name)));
    text.append(
        """
        /** Returns a copy with another {@code %1$s}. */
        public %2$s %3$s(%4$s %1$s) {
          return new %2$s(%5$s);
        }

        """
            .formatted(
                parameter,
                described.name,
                method,
                type(Objects.requireNonNull(fields.get(changed))),
                String.join(", ", values)));
  }
}
