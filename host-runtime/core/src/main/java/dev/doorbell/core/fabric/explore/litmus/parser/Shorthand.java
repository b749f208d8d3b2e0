package dev.doorbell.core.fabric.explore.litmus.parser;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Words of public test suites that PTX does not have, as the instructions that they stand for:
 * {@code beq a, b, L} and its like, {@code goto L}, {@code atom.sub} and {@code red.sub}, {@code ld
 * r, 1}, and barriers that name their place in the code before id and count.
 */
final class Shorthand {
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
                  compare.group(1), predicate, compare.group(2).strip(), compare.group(3).strip()),
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
          "%s%sadd%s %s".formatted(guard(subtract), subtract.group(2), subtract.group(3), negated));
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
