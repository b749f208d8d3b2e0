package dev.doorbell.kernels;

import java.io.IOException;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * abi.h as a C compiler understands it: constants, and the offsets of fields of {@code uint32_t}
 * and {@code uint64_t}, naturally aligned.
 */
final class AbiHeader {
  private static final Pattern DEFINE =
      Pattern.compile("(?m)^#define (DOORBELL_\\w+) (0x[0-9a-fA-F]+|\\d+)(u|ull)?\\s");
  private static final Pattern STRUCT = Pattern.compile("(?ms)^struct (\\w+) \\{(.*?)^\\};");
  private static final Pattern FIELD =
      Pattern.compile("^\\s*(uint32_t|uint64_t) (\\w+)(?:\\[(\\d+)])?;");

  /**
   * One field.
   *
   * @param offset in bytes
   * @param width of one element: 4 or 8
   * @param count of elements
   */
  record Field(int offset, int width, int count) {}

  /**
   * One structure.
   *
   * @param bytes with the padding at its end
   * @param fields by name, in order
   */
  record Struct(int bytes, Map<String, Field> fields) {
    Field field(String name) {
      Field found = fields.get(name);
      if (found == null) {
        throw new AssertionError("no field " + name + " among " + fields.keySet());
      }
      return found;
    }

    int offset(String field) {
      return field(field).offset;
    }
  }

  final Map<String, Long> constants = new LinkedHashMap<>();
  final Map<String, Struct> structs = new LinkedHashMap<>();

  Struct struct(String name) {
    Struct found = structs.get(name);
    if (found == null) {
      throw new AssertionError("no struct " + name + " among " + structs.keySet());
    }
    return found;
  }

  static AbiHeader read() throws IOException {
    return new AbiHeader(Files.readString(SourceTree.ABI));
  }

  /** Another header beside abi.h. */
  static AbiHeader read(String name) throws IOException {
    return new AbiHeader(Files.readString(SourceTree.ABI.resolveSibling(name)));
  }

  private AbiHeader(String text) {
    Matcher define = DEFINE.matcher(text);
    while (define.find()) {
      String digits = define.group(2);
      constants.put(
          define.group(1),
          digits.startsWith("0x")
              ? Long.parseUnsignedLong(digits.substring(2), 16)
              : Long.parseLong(digits));
    }
    Matcher struct = STRUCT.matcher(text);
    while (struct.find()) {
      structs.put(struct.group(1), layout(struct.group(1), struct.group(2)));
    }
  }

  private static Struct layout(String name, String body) {
    Map<String, Field> fields = new LinkedHashMap<>();
    int end = 0;
    int alignment = 1;
    for (String line : body.lines().toList()) {
      String code = line.replaceFirst("//.*", "").strip();
      if (code.isEmpty()) {
        continue;
      }
      Matcher field = FIELD.matcher(code);
      if (!field.find()) {
        throw new AssertionError("cannot read this line of struct " + name + ": " + line);
      }
      int width = field.group(1).equals("uint64_t") ? 8 : 4;
      int count = field.group(3) == null ? 1 : Integer.parseInt(field.group(3));
      int offset = (end + width - 1) & -width;
      fields.put(field.group(2), new Field(offset, width, count));
      end = offset + width * count;
      alignment = Math.max(alignment, width);
    }
    return new Struct((end + alignment - 1) & -alignment, fields);
  }
}
