package dev.doorbell.core.format;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of src/main/formats: the classes that it describes. The grammar is in README.md of that
 * folder.
 */
record FormatTable(String packageName, List<Described> classes) {
  private static final Pattern FIELD =
      Pattern.compile(
          "(\\S+) ([uqhb]?[0-9:]+) ([\\w-]+)(?:/(\\w+|-))?(?: \"([^\"]*)\")?(?: \"([^\"]*)\")?");
  private static final Pattern WORDS = Pattern.compile("words (\\S+) (\\S+) \"([^\"]*)\"");
  private static final Pattern CONSTANT =
      Pattern.compile("const (?:(long|byte|String) )?(\\w+) = (.*)");
  private static final Pattern CODE = Pattern.compile("code (\\w+) (\\S+)((?: \\w+)*)");

  /** Describes one class. */
  static final class Described {
    final String name;
    final int bytes;
    final boolean bigEndian;
    final boolean firmware;
    final List<String> docs = new ArrayList<>();
    final List<Constant> constants = new ArrayList<>();
    final List<Field> fields = new ArrayList<>();
    final List<Row> rows = new ArrayList<>();
    final List<Writer> writers = new ArrayList<>();
    final Map<String, Choice> choices = new LinkedHashMap<>();
    final List<String> header = new ArrayList<>();
    final List<String> shown = new ArrayList<>();
    String line = "";

    Described(String name, int bytes, boolean bigEndian, boolean firmware) {
      this.name = name;
      this.bytes = bytes;
      this.bigEndian = bigEndian;
      this.firmware = firmware;
    }
  }

  record Constant(String type, String name, String value, String doc) {}

  /** A row that a printer shows: {@code high} is -1 for plain words, {@code low} their bytes. */
  record Row(int offset, int high, int low, String label, String meaning) {}

  /** Some bits of the container of {@code size} bytes at {@code offset}. */
  record Field(
      int offset,
      int size,
      int high,
      int low,
      boolean isFlag,
      String name,
      String offsetName,
      String doc) {
    int width() {
      return high - low + 1;
    }

    boolean whole() {
      return width() == size * Byte.SIZE;
    }

    String type() {
      return isFlag ? "boolean" : width() > Integer.SIZE ? "long" : "int";
    }
  }

  /** A method that stores fields; those in {@code values} have a fixed value. */
  record Writer(
      String name, boolean partial, List<String> fields, Map<String, String> values, String doc) {}

  /** A function of a code: true or a text for some codes, false or {@code otherwise} else. */
  record Choice(
      String name, boolean text, String otherwise, String doc, Map<String, String> answers) {}

  static FormatTable parse(String text) {
    Parser parser = new Parser();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      try {
        parser.line(line);
      } catch (RuntimeException e) {
        throw new IllegalStateException("line %d: %s".formatted(number, line), e);
      }
    }
    return new FormatTable(parser.packageName, parser.classes);
  }

  private static final class Parser {
    private String packageName = "";
    private final List<Described> classes = new ArrayList<>();
    private Described now = new Described("", 0, false, false);
    private int base;
    private String code = "";

    void line(String full) {
      String line = full.strip();
      if (line.isEmpty() || line.startsWith("#")) {
        return;
      }
      if (line.startsWith("|")) {
        now.docs.add(line.substring(1).strip());
        return;
      }
      int split = line.indexOf(" : ");
      String doc = split < 0 ? "" : line.substring(split + 3).strip();
      String head = split < 0 ? line : line.substring(0, split).strip();
      String[] words = head.split(" ", -1);
      switch (words[0]) {
        case "package" -> packageName = words[1];
        case "class" -> {
          boolean little = head.contains(" little");
          int bytes = words.length > 2 && words[2].matches("\\d.*") ? number(words[2]) : 0;
          now = new Described(words[1], bytes, !little, head.contains(" firmware"));
          classes.add(now);
          base = 0;
        }
        case "base" -> base = number(words[1]);
        case "from", "names", "keys", "macros", "macro", "offsets", "with", "decode" ->
            now.header.add(head);
        case "words" -> {
          Matcher words3 = match(WORDS, head);
          now.rows.add(
              new Row(number(words3.group(1)), -1, number(words3.group(2)), words3.group(3), ""));
        }
        case "const" -> {
          Matcher constant = match(CONSTANT, head);
          String type = constant.group(1) == null ? "int" : constant.group(1);
          now.constants.add(new Constant(type, constant.group(2), constant.group(3), doc));
        }
        case "enum", "bits" -> numbers(words);
        case "write", "put" -> writer(words, doc);
        case "line" -> {
          int end = head.lastIndexOf('"');
          now.line = head.substring(head.indexOf('"') + 1, end);
          now.shown.addAll(List.of(head.substring(end + 1).strip().split(" ", -1)));
        }
        case "flag" -> now.choices.put(words[1], choice(words[1], false, "", doc));
        case "text" -> {
          if (words[1].startsWith("\"")) {
            answer(words[0], head);
            return;
          }
          String otherwise = head.substring(head.indexOf('"') + 1, head.lastIndexOf('"'));
          now.choices.put(words[1], choice(words[1], true, otherwise, doc));
        }
        case "code" -> code(head, doc);
        default -> {
          if (now.choices.containsKey(words[0])) {
            answer(words[0], head);
          } else {
            field(head, doc);
          }
        }
      }
    }

    /** Names that count up as those of a C enum: of numbers, or of bits. */
    private void numbers(String[] words) {
      int next = 0;
      String prefix = words[1].equals("-") ? "" : words[1];
      for (int i = 2; i < words.length; i++) {
        String[] pair = words[i].split("=", -1);
        next = pair.length > 1 ? number(pair[1]) : next;
        String value = words[0].equals("bits") ? "1 << " + next : Integer.toString(next);
        now.constants.add(new Constant("int", prefix + pair[0], value, ""));
        next++;
      }
    }

    private static Choice choice(String name, boolean text, String otherwise, String doc) {
      return new Choice(name, text, otherwise, doc, new LinkedHashMap<>());
    }

    private void answer(String function, String head) {
      Choice choice = Objects.requireNonNull(now.choices.get(function), function);
      choice.answers.put(code, head.substring(head.indexOf('"') + 1, head.lastIndexOf('"')));
    }

    private void code(String head, String doc) {
      Matcher matched = match(CODE, head);
      code = matched.group(1);
      now.constants.add(new Constant("int", code, matched.group(2), doc));
      for (String flag : matched.group(3).strip().split(" ", -1)) {
        if (!flag.isEmpty()) {
          Choice choice = now.choices.get(flag);
          if (choice == null) {
            throw new IllegalStateException("no flag or text " + flag);
          }
          choice.answers.put(code, code);
        }
      }
    }

    private void writer(String[] words, String doc) {
      List<String> fields = new ArrayList<>();
      Map<String, String> values = new TreeMap<>();
      boolean partial = words[0].equals("put");
      for (int i = 2; i < words.length; i++) {
        int equals = words[i].indexOf('=');
        String name = equals < 0 ? words[i] : words[i].substring(0, equals);
        fields.add(name);
        if (equals >= 0) {
          values.put(name, words[i].substring(equals + 1));
        }
      }
      now.writers.add(new Writer(words[1], partial, fields, values, doc));
    }

    private void field(String head, String doc) {
      Matcher field = match(FIELD, head);
      int offset = base + number(field.group(1));
      String bits = field.group(2);
      int size;
      int high;
      int low;
      if (bits.startsWith("u")) {
        size = Integer.parseInt(bits.substring(1)) / Byte.SIZE;
        high = size * Byte.SIZE - 1;
        low = 0;
      } else {
        size =
            switch (bits.charAt(0)) {
              case 'b' -> 1;
              case 'h' -> 2;
              case 'q' -> 8;
              default -> 4;
            };
        String[] ends = bits.replaceAll("[a-z]", "").split(":", -1);
        high = Integer.parseInt(ends[0]);
        low = Integer.parseInt(ends[ends.length - 1]);
      }
      String name = field.group(3);
      if (field.group(5) != null) {
        String meaning = field.group(6) == null ? "" : field.group(6);
        now.rows.add(new Row(offset, high, low, field.group(5), meaning));
      }
      if (!name.equals("-")) {
        String offsetName = field.group(4) == null ? "" : field.group(4);
        now.fields.add(
            new Field(offset, size, high, low, bits.matches("[qhb]?\\d+"), name, offsetName, doc));
      }
    }

    private static Matcher match(Pattern pattern, String text) {
      Matcher matcher = pattern.matcher(text);
      if (!matcher.matches()) {
        throw new IllegalStateException("is not like " + pattern);
      }
      return matcher;
    }

    private static int number(String text) {
      int sum = 0;
      for (String part : text.split("\\+", -1)) {
        sum += Integer.decode(part);
      }
      return sum;
    }
  }
}
