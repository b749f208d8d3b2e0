package dev.doorbell.core.queue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The structures and constants of one of the project's own headers, by the rules of natural
 * alignment. Reads fixed-width integers, arrays of them, and macros with an unsigned value.
 */
public record CHeader(Map<String, Struct> structs, Map<String, Long> constants) {
  private static final Pattern CONSTANT =
      Pattern.compile("^#define (DOORBELL_\\w+) (\\S.*)$", Pattern.MULTILINE);
  private static final Pattern STRUCT =
      Pattern.compile(
          "^struct (doorbell_\\w+) \\{$(.*?)^\\};$", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern FIELD =
      Pattern.compile("uint(8|16|32|64)_t (\\w+)(?:\\[(\\d+)\\])?;");
  private static final Pattern NUMBER = Pattern.compile("(0x)?(\\p{XDigit}+)(?:u|ull)?");
  private static final Pattern SHIFTED = Pattern.compile("\\(UINT64_C\\(1\\) << (\\d+)\\)");

  /** A structure: its fields in order, and its size. */
  public record Struct(Map<String, Field> fields, int bytes) {}

  /** A field: offset and width of one element, in bytes, and how many elements. */
  public record Field(int offset, int width, int elements) {}

  /** Reads a header, given by its path from the root of the repository. */
  public static CHeader read(String path) throws IOException {
    return parse(Files.readString(locate(path)).replaceAll("//[^\n]*", "").replace("\r", ""));
  }

  /** Finds a file of the repository from the directory of a module. */
  public static Path locate(String path) {
    Path directory = Path.of("").toAbsolutePath();
    for (Path at = directory; at != null; at = at.getParent()) {
      if (Files.exists(at.resolve(path))) {
        return at.resolve(path);
      }
    }
    throw new IllegalStateException(path + " is in no directory above " + directory);
  }

  private static CHeader parse(String text) {
    Map<String, Long> constants = new LinkedHashMap<>();
    for (Matcher each = CONSTANT.matcher(text); each.find(); ) {
      constants.put(each.group(1), number(each.group(2).strip()));
    }
    Map<String, Struct> structs = new LinkedHashMap<>();
    for (Matcher each = STRUCT.matcher(text); each.find(); ) {
      structs.put(each.group(1), struct(each.group(1), each.group(2)));
    }
    return new CHeader(structs, constants);
  }

  private static long number(String text) {
    Matcher shifted = SHIFTED.matcher(text);
    if (shifted.matches()) {
      return 1L << Integer.parseInt(shifted.group(1));
    }
    Matcher number = NUMBER.matcher(text);
    if (!number.matches()) {
      throw new IllegalStateException("not a number: " + text);
    }
    return Long.parseUnsignedLong(number.group(2), number.group(1) == null ? 10 : 16);
  }

  private static Struct struct(String name, String body) {
    Map<String, Field> fields = new LinkedHashMap<>();
    int offset = 0;
    int alignment = 1;
    int declarations = 0;
    for (Matcher each = FIELD.matcher(body); each.find(); declarations++) {
      int width = Integer.parseInt(each.group(1)) / Byte.SIZE;
      int elements = each.group(3) == null ? 1 : Integer.parseInt(each.group(3));
      offset = roundUp(offset, width);
      fields.put(each.group(2), new Field(offset, width, elements));
      offset += width * elements;
      alignment = Math.max(alignment, width);
    }
    if (declarations != body.chars().filter(c -> c == ';').count()) {
      throw new IllegalStateException("struct " + name + " has a field of another kind");
    }
    return new Struct(fields, roundUp(offset, alignment));
  }

  private static int roundUp(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }
}
