package dev.doorbell.core.fabric.explore.litmus.parser;

import dev.doorbell.core.fabric.explore.litmus.Condition;
import dev.doorbell.core.fabric.explore.litmus.Instruction;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Proxy;
import dev.doorbell.core.fabric.explore.litmus.LitmusException;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.LitmusThread;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Quantifier;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.ThreadPlace;
import dev.doorbell.core.fabric.explore.litmus.parser.ConditionParser.Numbers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads litmus files in the column format of the herd tools, with PTX instructions:
 *
 * <pre>{@code
 * PTX MP
 * "message passing"
 * { x = 0; y = 0; P1:r2 = 7; }
 *  P0@cta 0,gpu 0      | P1@cta 1,gpu 0      ;
 *  st.weak x, 1        | ld.acquire.gpu r0, y ;
 *  st.release.gpu y, 1 | ld.weak r1, x       ;
 * ~exists (P1:r0 == 1 /\ P1:r1 == 0)
 * }</pre>
 *
 * <p>Behind the name there may be quoted lines, lines {@code Key=value} as generators of tests
 * write them, and any other text up to the brace. Comments are {@code (* ... *)} and {@code //
 * ...}. A name of another proxy, or another address of a location, is declared as {@code s @
 * surface aliases x}. Between the rows and the claim there may be a {@code filter} condition:
 * executions that do not meet it are not looked at.
 */
public final class LitmusParser {
  private static final Pattern HEADER =
      Pattern.compile("\\s*PTX\\s+(\\S+)((?:\\s*\"[^\"]*\")*)\\s*((?:\\w+=[^\\n{]*\\s*)*)");
  private static final Pattern QUOTED = Pattern.compile("\"([^\"]*)\"");
  private static final Pattern COLUMN =
      Pattern.compile("P(\\d{1,4})\\s*@\\s*cta\\s+(\\d{1,4})\\s*,\\s*gpu\\s+(\\d{1,4})");
  private static final int LONGEST = 1 << 14;
  private static final Pattern ASSIGNMENT =
      Pattern.compile("(?:P(\\d{1,4})\\s*:\\s*)?\\[?\\s*([A-Za-z_]\\w*)\\s*]?\\s*=\\s*(\\S+)");
  private static final Pattern ALIAS =
      Pattern.compile(
          "([A-Za-z_]\\w*)\\s*@\\s*(generic|surface|texture|constant)\\s+aliases\\s+([A-Za-z_]\\w*)");
  private static final Pattern CLAIM =
      Pattern.compile(
          "^[^\\S\\n]*(filter|~\\s*exists|not\\s+exists|exists|forall)\\b", Pattern.MULTILINE);
  private static final Pattern LABEL = Pattern.compile("([A-Za-z_$][\\w$]*)\\s*:\\s*(.*)");

  private final String text;
  private final Map<String, Integer> locations = new LinkedHashMap<>();

  /** Meanings of names other than those of locations. */
  private final Map<String, Address> aliases = new LinkedHashMap<>();

  private final List<Integer> initial = new ArrayList<>();
  private final List<Map<String, Integer>> registers = new ArrayList<>();
  private final List<ThreadPlace> places = new ArrayList<>();

  /** An instruction's text, its labels taken off. */
  private record Row(int line, String text) {}

  private LitmusParser(String text) {
    this.text = text;
  }

  /**
   * Reads one test.
   *
   * @throws LitmusException the first thing in it that cannot be understood
   */
  public static LitmusTest parse(String text) throws LitmusException {
    if (text.length() > LONGEST) {
      throw new LitmusException(
          1,
          "the test has %,d characters, and %,d are the most".formatted(text.length(), LONGEST),
          "cut it into several tests");
    }
    return new LitmusParser(blankComments(text)).parse();
  }

  /** Replaces comments by blanks, so that lines keep their numbers. */
  private static String blankComments(String text) {
    StringBuilder out = new StringBuilder(text);
    Matcher comments = Pattern.compile("\"[^\"]*\"|\\(\\*|//[^\\n]*").matcher(text);
    boolean closed = true; // looked for once where there is no end
    for (int at = 0; comments.find(at); ) {
      int start = comments.start();
      at = comments.end();
      if (text.charAt(start) == '(') {
        int close = closed ? text.indexOf("*)", at) : -1;
        closed = close >= 0;
        at = closed ? close + 2 : at;
      }
      if (text.charAt(start) == '"' || (text.charAt(start) == '(' && !closed)) {
        continue; // a quoted line may hold an address of the web
      }
      for (int i = start; i < at; i++) {
        if (text.charAt(i) != '\n') {
          out.setCharAt(i, ' ');
        }
      }
    }
    return out.toString();
  }

  private LitmusTest parse() throws LitmusException {
    Matcher header = HEADER.matcher(text);
    if (!header.lookingAt()) {
      throw new LitmusException(
          lineOf(0), "the file does not begin with PTX and a name", "begin it with: PTX NAME");
    }
    String description =
        QUOTED
            .matcher(String.valueOf(header.group(2)))
            .results()
            .map(line -> line.group(1).strip())
            .collect(Collectors.joining(" "));
    int open = text.indexOf('{', header.end());
    int close = text.indexOf('}', Math.max(open, 0));
    if (open < 0 || close < 0) {
      throw new LitmusException(
          lineOf(header.end()),
          "no initial state follows the name",
          "write { x = 0; y = 0; }, or {} when everything begins as 0");
    }
    Matcher claim = CLAIM.matcher(text);
    if (!claim.find(close + 1)) {
      throw new LitmusException(
          lineOf(text.length()),
          "the test claims nothing",
          "end it with exists, ~exists or forall");
    }
    String[] rows = text.substring(close + 1, claim.start()).split(";", -1);
    columns(rows[0], close + 1);
    initialState(open + 1, close);
    List<LitmusThread> threads = threads(rows, close + 1);
    Condition filter = new Condition.True();
    int at = claim.start();
    ConditionParser conditions = new ConditionParser(text, this::observable);
    if (claim.group(1).equals("filter")) {
      filter = conditions.parse(claim.end());
      at = conditions.end();
      if (!claim.find(at) || claim.group(1).equals("filter")) {
        throw new LitmusException(
            lineOf(at), "the filter is not followed by a claim", "add exists, ~exists or forall");
      }
    }
    Condition condition = conditions.parse(claim.end());
    if (!text.substring(conditions.end()).isBlank()) {
      throw new LitmusException(
          lineOf(conditions.end()), "something follows the claim", "one file holds one test");
    }
    Quantifier quantifier =
        switch (claim.group(1).charAt(0)) {
          case 'e' -> Quantifier.EXISTS;
          case 'f' -> Quantifier.FORALL;
          default -> Quantifier.NOT_EXISTS;
        };
    String written = text.substring(claim.end(), conditions.end()).strip().replaceAll("\\s+", " ");
    return new LitmusTest(
        header.group(1),
        description,
        threads,
        List.copyOf(locations.keySet()),
        List.copyOf(initial),
        filter,
        quantifier,
        condition,
        quantifier.text() + " " + written);
  }

  private void columns(String row, int from) throws LitmusException {
    for (String column : row.split("\\|", -1)) {
      Matcher place = COLUMN.matcher(column.strip());
      int number = places.size();
      if (!place.matches() || !place.group(1).equals(Integer.toString(number))) {
        throw new LitmusException(
            lineOf(from + leadingBlanks(row)),
            "'%s' is not the head of column %d".formatted(column.strip(), number),
            "write P%d@cta 0,gpu 0".formatted(number));
      }
      places.add(
          new ThreadPlace(Integer.parseInt(place.group(2)), Integer.parseInt(place.group(3))));
      registers.add(new LinkedHashMap<>());
    }
  }

  private void initialState(int from, int to) throws LitmusException {
    int at = from;
    for (String part : text.substring(from, to).split(";", -1)) {
      if (!part.isBlank()) {
        declaration(part.strip(), lineOf(at + leadingBlanks(part)));
      }
      at += part.length() + 1;
    }
  }

  private void declaration(String part, int line) throws LitmusException {
    Matcher alias = ALIAS.matcher(part);
    if (!alias.matches()) {
      assignment(part, line);
      return;
    }
    String name = alias.group(1);
    if (locations.containsKey(name) || aliases.containsKey(name)) {
      throw new LitmusException(
          line, "'%s' is declared twice".formatted(name), "rename one of them");
    }
    Address target = address(alias.group(3));
    Proxy proxy = Proxy.valueOf(alias.group(2).toUpperCase(java.util.Locale.ROOT));
    int virtual = proxy == Proxy.GENERIC ? -1 - aliases.size() : target.virtual();
    aliases.put(name, new Address(target.location(), virtual, proxy));
  }

  private void assignment(String part, int line) throws LitmusException {
    Matcher matcher = ASSIGNMENT.matcher(part);
    Integer value = matcher.matches() ? Numbers.parse(matcher.group(3)) : null;
    if (value == null) {
      throw new LitmusException(
          line, "'%s' gives nothing a value".formatted(part), "write x = 1 or P0:r0 = 1");
    }
    if (matcher.group(1) == null) {
      initial.set(location(matcher.group(2)), value);
      return;
    }
    int thread = Integer.parseInt(matcher.group(1));
    if (thread >= registers.size()) {
      throw new LitmusException(
          line, "there is no thread P%d".formatted(thread), "name one of the columns");
    }
    registers.get(thread).put(matcher.group(2), value);
  }

  private List<LitmusThread> threads(String[] rows, int from) throws LitmusException {
    List<List<Row>> code = new ArrayList<>();
    List<Map<String, Integer>> labels = new ArrayList<>();
    for (int thread = 0; thread < places.size(); thread++) {
      code.add(new ArrayList<>());
      labels.add(new LinkedHashMap<>());
    }
    int at = from + rows[0].length() + 1;
    for (int row = 1; row < rows.length; row++) {
      String[] cells = rows[row].split("\\|", -1);
      int line = lineOf(at + leadingBlanks(rows[row]));
      if (cells.length > places.size()) {
        throw new LitmusException(
            line,
            "%d cells, but %d columns".formatted(cells.length, places.size()),
            "leave cells of finished threads empty");
      }
      for (int thread = 0; thread < cells.length; thread++) {
        cell(cells[thread].strip(), line, code.get(thread), labels.get(thread));
      }
      at += rows[row].length() + 1;
    }
    List<LitmusThread> threads = new ArrayList<>();
    for (int thread = 0; thread < places.size(); thread++) {
      InstructionParser parser = new InstructionParser(this::address, labels.get(thread));
      List<Instruction> instructions = new ArrayList<>();
      for (Row row : code.get(thread)) {
        instructions.add(parser.parse(row.line, row.text));
      }
      threads.add(
          new LitmusThread("P" + thread, places.get(thread), instructions, registers.get(thread)));
    }
    return threads;
  }

  private static void cell(String cell, int line, List<Row> code, Map<String, Integer> labels)
      throws LitmusException {
    String rest = cell;
    for (Matcher label = LABEL.matcher(rest); label.matches(); label = LABEL.matcher(rest)) {
      if (labels.put(label.group(1), code.size()) != null) {
        throw new LitmusException(
            line, "label %s stands twice".formatted(label.group(1)), "rename one of them");
      }
      rest = label.group(2);
    }
    if (!rest.isBlank()) {
      for (String instruction : Shorthand.expand(rest, code.size())) {
        code.add(new Row(line, instruction));
      }
    }
  }

  /** The index of a location; a name that is new begins as 0. */
  private int location(String name) {
    Integer known = locations.get(name);
    if (known != null) {
      return known;
    }
    locations.put(name, initial.size());
    initial.add(0);
    return initial.size() - 1;
  }

  /** Returns the meaning of an access's name. */
  private Address address(String name) {
    Address alias = aliases.get(name);
    if (alias != null) {
      return alias;
    }
    int location = location(name);
    return new Address(location, location, Proxy.GENERIC);
  }

  /**
   * Returns what a condition names: a thread's register, or the location of the test that a name
   * stands for; null when there is none.
   */
  private @Nullable String observable(String name) {
    int colon = name.indexOf(':');
    if (colon >= 0) {
      return Integer.parseInt(name.substring(1, colon)) < places.size() ? name : null;
    }
    Address alias = aliases.get(name);
    if (alias != null) {
      return List.copyOf(locations.keySet()).get(alias.location());
    }
    return locations.containsKey(name) ? name : null;
  }

  private static int leadingBlanks(String part) {
    int blanks = 0;
    while (blanks < part.length() && Character.isWhitespace(part.charAt(blanks))) {
      blanks++;
    }
    return blanks;
  }

  private int lineOf(int offset) {
    return Numbers.line(text, offset);
  }

  /**
   * Words of public test suites that PTX does not have, as the instructions that they stand for:
   * {@code beq a, b, L} and its like, {@code goto L}, {@code atom.sub} and {@code red.sub}, {@code
   * ld r, 1}, and barriers that name their place in the code before id and count.
   */
  private static final class Shorthand {
    private static final Pattern COMPARE =
        Pattern.compile("b(eq|ne|lt|le|gt|ge)\\s+([^,]+),([^,]+),\\s*(\\S+)");
    private static final Pattern GOTO = Pattern.compile("(@\\S+\\s+)?goto\\s+(\\S+)");
    private static final Pattern SUBTRACT =
        Pattern.compile("(@\\S+\\s+)?((?:atom|red)\\.\\S*?)\\bsub\\b(\\S*\\s+.*,)\\s*([^,]+)");

    private static final Pattern MOVE = Pattern.compile("(@\\S+\\s+)?ld\\s+(\\S+),\\s*(-?\\w+)");
    private static final Pattern BARRIER =
        Pattern.compile("(@\\S+\\s+)?(bar\\.cta\\.\\w+)\\s+\\d+\\s*,([^,]+,[^,]+)");

    /** Registers of this number and above are those of expansions. */
    private static final int FIRST = 100_000;

    private Shorthand() {}

    /**
     * The instructions that a row stands for; mostly itself.
     *
     * @param number tells registers of this row from those of others of its thread
     */
    static List<String> expand(String row, int number) {
      Matcher compare = COMPARE.matcher(row);
      if (compare.matches()) {
        String predicate = "%p" + (FIRST + number);
        return List.of(
            "setp.%s.s32 %s, %s, %s"
                .formatted(
                    compare.group(1),
                    predicate,
                    compare.group(2).strip(),
                    compare.group(3).strip()),
            "@%s bra %s".formatted(predicate, compare.group(4)));
      }
      Matcher jump = GOTO.matcher(row);
      if (jump.matches()) {
        return List.of(guard(jump) + "bra " + jump.group(2));
      }
      Matcher subtract = SUBTRACT.matcher(row);
      if (subtract.matches()) {
        String negated = "%r" + (FIRST + number);
        return List.of(
            "sub.u32 %s, 0, %s".formatted(negated, subtract.group(4).strip()),
            "%s%sadd%s %s"
                .formatted(guard(subtract), subtract.group(2), subtract.group(3), negated));
      }
      Matcher move = MOVE.matcher(row);
      if (move.matches()) {
        return List.of("%smov.u32 %s, %s".formatted(guard(move), move.group(2), move.group(3)));
      }
      Matcher barrier = BARRIER.matcher(row);
      if (barrier.matches()) {
        return List.of("%s%s%s".formatted(guard(barrier), barrier.group(2), barrier.group(3)));
      }
      return List.of(row);
    }

    private static String guard(Matcher matcher) {
      String guard = matcher.group(1);
      return guard == null ? "" : guard;
    }
  }
}
