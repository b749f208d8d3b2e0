package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Opcode;
import dev.doorbell.ptxvm.ir.Operand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A cursor over tokens, with the small grammar that everything shares: words, numbers, skips. */
final class TokenStream {
  private final List<Token> tokens;
  private final Map<List<String>, List<String>> modifierLists = new HashMap<>();
  private int at;

  TokenStream(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token peek() {
    return tokens.get(at);
  }

  Token peek(int ahead) {
    return tokens.get(Math.min(at + ahead, tokens.size() - 1));
  }

  Token next() {
    Token token = tokens.get(at);
    if (token.kind() != Token.Kind.END) {
      at++;
    }
    return token;
  }

  /** Returns the number of tokens that were read. */
  int position() {
    return at;
  }

  boolean atEnd() {
    return peek().kind() == Token.Kind.END;
  }

  boolean accept(String symbol) {
    if (peek().is(symbol)) {
      at++;
      return true;
    }
    return false;
  }

  boolean acceptDot(String word) {
    if (peek().dot(word)) {
      at++;
      return true;
    }
    return false;
  }

  void expect(String symbol) throws SyntaxException {
    if (!accept(symbol)) {
      throw unexpected("'" + symbol + "'");
    }
  }

  String name() throws SyntaxException {
    if (peek().kind() != Token.Kind.NAME) {
      throw unexpected("a name");
    }
    return next().text();
  }

  /** The modifiers of an instruction; one list for all that have the same. */
  List<String> modifiers() throws SyntaxException {
    List<String> modifiers = new ArrayList<>();
    while (peek().kind() == Token.Kind.DOT) {
      modifiers.add(next().text());
    }
    List<String> known = modifierLists.get(modifiers);
    if (known == null) {
      for (String modifier : modifiers) {
        if (!Opcode.isModifier(modifier)) {
          throw new SyntaxException(peek().line(), "modifier ." + modifier + " is not supported");
        }
      }
      known = List.copyOf(modifiers);
      modifierLists.put(known, known);
    }
    return known;
  }

  SyntaxException unexpected(String wanted) {
    return new SyntaxException(peek().line(), "expected %s, found %s".formatted(wanted, peek()));
  }

  void skipLine(int line) {
    while (!atEnd() && peek().line() == line) {
      at++;
    }
  }

  /** Skips to behind the next ';', or to before the next block or the end of this one. */
  void skipStatement() {
    while (!atEnd() && !isBlock() && !peek().is("}")) {
      if (peek().is("{")) {
        skipBraces();
      } else if (next().is(";")) {
        return;
      }
    }
  }

  /** Returns true before a '{' that holds statements, not the elements of a vector. */
  private boolean isBlock() {
    if (!peek().is("{")) {
      return false;
    }
    int ahead = 1;
    while (!peek(ahead).is("}") && !peek(ahead).is(";") && peek(ahead).kind() != Token.Kind.END) {
      ahead++;
    }
    return !peek(ahead).is("}");
  }

  boolean endedStatement() {
    return at > 0 && tokens.get(at - 1).is(";");
  }

  /** Skips a balanced {@code { ... }}; the cursor is at the opening brace. */
  void skipBraces() {
    int depth = 0;
    while (!atEnd()) {
      Token token = next();
      if (token.is("{")) {
        depth++;
      } else if (token.is("}") && --depth <= 0) {
        return;
      }
    }
  }

  /** A literal with its sign; offsets come as {@code +-8} as well. */
  Operand literal() throws SyntaxException {
    accept("+");
    boolean negative = accept("-");
    if (peek().kind() != Token.Kind.NUMBER) {
      throw unexpected("a number");
    }
    Token token = next();
    Operand value = Literals.parse(token);
    return negative ? Literals.negate(value) : value;
  }

  /** An integer literal, possibly a sum, a difference or a product of some. */
  long integer() throws SyntaxException {
    int line = peek().line();
    if (!(literal() instanceof Operand.Int(long value))) {
      throw new SyntaxException(line, "expected an integer");
    }
    while (peek().is("*")) {
      next();
      if (!(literal() instanceof Operand.Int(long factor))) {
        throw new SyntaxException(line, "expected an integer");
      }
      value *= factor;
    }
    return value;
  }

  /** An integer that fits an int and is not negative: a count, an alignment. */
  int count() throws SyntaxException {
    int line = peek().line();
    long value = integer();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new SyntaxException(line, value + " is not a possible count");
    }
    return (int) value;
  }

  /** Number literals (PTX ISA, "Constants"). */
  static final class Literals {
    private Literals() {}

    static Operand parse(Token token) throws SyntaxException {
      String text = token.text();
      String lower = text.toLowerCase(Locale.ROOT);
      try {
        if (lower.startsWith("0f") && lower.length() == 10) {
          return new Operand.Single(Integer.parseUnsignedInt(lower.substring(2), 16));
        }
        if (lower.startsWith("0d") && lower.length() == 18) {
          return new Operand.Real(
              Double.longBitsToDouble(Long.parseUnsignedLong(lower.substring(2), 16)));
        }
        if (lower.startsWith("0x")) {
          return new Operand.Int(Long.parseUnsignedLong(unsuffixed(lower).substring(2), 16));
        }
        if (lower.indexOf('.') >= 0 || lower.indexOf('e') >= 0) {
          return new Operand.Real(Double.parseDouble(text));
        }
        String digits = unsuffixed(lower);
        if (digits.startsWith("0b")) {
          return new Operand.Int(Long.parseUnsignedLong(digits.substring(2), 2));
        }
        boolean octal = digits.length() > 1 && digits.charAt(0) == '0';
        return new Operand.Int(Long.parseUnsignedLong(digits, octal ? 8 : 10));
      } catch (NumberFormatException e) {
        throw new SyntaxException(token.line(), "'%s' is not a number".formatted(text));
      }
    }

    static Operand negate(Operand value) {
      return switch (value) {
        case Operand.Int(long bits) -> new Operand.Int(-bits);
        case Operand.Real(double real) -> new Operand.Real(-real);
        case Operand.Single(int bits) -> new Operand.Single(bits ^ 0x80000000);
        default -> value;
      };
    }

    private static String unsuffixed(String digits) {
      return digits.endsWith("u") ? digits.substring(0, digits.length() - 1) : digits;
    }
  }

  /**
   * A token of PTX.
   *
   * @param text a word without its leading dot, a number as written, a string without its quotes
   * @param line from 1
   * @param joined no white space before it
   */
  record Token(Kind kind, String text, int line, boolean joined) {
    enum Kind {
      /** A name, possibly beginning with % or $. */
      NAME,
      /** A word after a dot: a directive, a modifier, a component. */
      DOT,
      NUMBER,
      STRING,
      /** One character. */
      SYMBOL,
      /** A function's body that is cut into tokens later. */
      BODY,
      END
    }

    boolean is(String symbol) {
      return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean dot(String word) {
      return kind == Kind.DOT && text.equals(word);
    }

    @Override
    public String toString() {
      return switch (kind) {
        case DOT -> "'." + text + "'";
        case STRING -> "\"" + text + "\"";
        case END -> "the end of the file";
        default -> "'" + text + "'";
      };
    }
  }

  /** PTX that cannot be understood; becomes a refusal of its line. */
  static final class SyntaxException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int line;

    SyntaxException(int line, String message) {
      super(message);
      this.line = line;
    }

    int line() {
      return line;
    }
  }
}
