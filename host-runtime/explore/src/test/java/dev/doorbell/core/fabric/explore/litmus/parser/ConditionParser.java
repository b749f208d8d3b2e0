package dev.doorbell.core.fabric.explore.litmus.parser;

import dev.doorbell.core.fabric.explore.litmus.Condition;
import dev.doorbell.core.fabric.explore.litmus.Condition.Comparison;
import dev.doorbell.core.fabric.explore.litmus.Condition.Term;
import dev.doorbell.core.fabric.explore.litmus.LitmusException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads conditions: comparisons joined by {@code /\}, {@code \/} and {@code ~}, and parentheses.
 */
final class ConditionParser {
  private static final Pattern TERM =
      Pattern.compile(
          "(?:P?(\\d{1,4})\\s*:\\s*([A-Za-z_%]\\w*)|\\[?\\s*([A-Za-z_]\\w*)\\s*]?|(-?\\w+))");
  private static final int DEEPEST = 64;
  private static final Pattern COMPARISON = Pattern.compile("==|!=|<=|>=|=|<|>");
  private static final Map<String, Comparison> COMPARISONS =
      Map.of(
          "==", Comparison.EQ,
          "=", Comparison.EQ,
          "!=", Comparison.NE,
          "<", Comparison.LT,
          "<=", Comparison.LE,
          ">", Comparison.GT,
          ">=", Comparison.GE);

  private final String text;
  private final Function<String, @Nullable String> known;
  private int at;
  private int depth;

  ConditionParser(String text, Function<String, @Nullable String> known) {
    this.text = text;
    this.known = known;
  }

  /** Reads a condition from {@code offset} on; see {@link #end}. */
  Condition parse(int offset) throws LitmusException {
    at = offset;
    return any();
  }

  int end() {
    return at;
  }

  private Condition any() throws LitmusException {
    List<Condition> parts = new ArrayList<>(List.of(all()));
    while (take("\\/")) {
      parts.add(all());
    }
    return parts.size() == 1 ? parts.getFirst() : new Condition.Or(parts);
  }

  private Condition all() throws LitmusException {
    List<Condition> parts = new ArrayList<>(List.of(one()));
    while (take("/\\")) {
      parts.add(one());
    }
    return parts.size() == 1 ? parts.getFirst() : new Condition.And(parts);
  }

  private Condition one() throws LitmusException {
    if (++depth > DEEPEST) {
      throw error("the condition nests more than %d deep".formatted(DEEPEST), "write it flat");
    }
    Condition condition = innermost();
    depth--;
    return condition;
  }

  private Condition innermost() throws LitmusException {
    if (take("~")) {
      return new Condition.Not(one());
    }
    if (take("(")) {
      Condition inner = any();
      if (!take(")")) {
        throw error("a parenthesis is not closed", "add )");
      }
      return inner;
    }
    if (take("true")) {
      return new Condition.True();
    }
    Term left = term();
    Matcher matcher = COMPARISON.matcher(text).region(at, text.length());
    if (!matcher.lookingAt()) {
      throw error("a comparison is missing", "write P0:r0 == 1 or x == 1");
    }
    at = matcher.end();
    Comparison comparison = COMPARISONS.getOrDefault(matcher.group(), Comparison.EQ);
    return new Condition.Compare(left, comparison, term());
  }

  private Term term() throws LitmusException {
    skipBlanks();
    Matcher matcher = TERM.matcher(text).region(at, text.length());
    if (!matcher.lookingAt()) {
      throw error("a value is missing", "write P0:r0, x or a number");
    }
    int start = at;
    at = matcher.end();
    skipBlanks();
    if (matcher.group(4) != null) {
      Integer number = Numbers.parse(matcher.group(4));
      if (number == null) {
        at = start;
        throw error("'%s' is no value".formatted(matcher.group(4)), "write P0:r0, x or a number");
      }
      return new Term.Constant(number);
    }
    String name =
        matcher.group(1) != null
            ? "P" + matcher.group(1) + ":" + matcher.group(2)
            : String.valueOf(matcher.group(3));
    String observable = known.apply(name);
    if (observable == null) {
      at = start;
      throw error(
          "the test has no '%s'".formatted(name),
          "name a register as P0:r0, or a location it uses");
    }
    return new Term.Observable(observable);
  }

  private boolean take(String token) {
    skipBlanks();
    if (!text.startsWith(token, at)) {
      return false;
    }
    at += token.length();
    return true;
  }

  private void skipBlanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private LitmusException error(String what, String fix) {
    return new LitmusException(Numbers.line(text, at), what, fix);
  }

  static final class Numbers {
    private Numbers() {}

    /** A decimal or hexadecimal 32-bit number, signed or not; null when it is none. */
    static @Nullable Integer parse(String word) {
      try {
        long value = Long.decode(word);
        return value < Integer.MIN_VALUE || value > 0xffff_ffffL ? null : (int) value;
      } catch (NumberFormatException e) {
        return null;
      }
    }

    /** The line of an offset, from 1. */
    static int line(String text, int offset) {
      int end = Math.min(offset, text.length());
      return 1 + (int) text.substring(0, end).chars().filter(c -> c == '\n').count();
    }
  }
}
