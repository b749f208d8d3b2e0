package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Operand;
import java.util.List;

/** A cursor over tokens, with the small grammar that everything shares: words, numbers, skips. */
final class TokenStream {
  private final List<Token> tokens;
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

  /** How many tokens were read. */
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

  SyntaxException unexpected(String wanted) {
    return new SyntaxException(peek().line(), "expected %s, found %s".formatted(wanted, peek()));
  }

  /** Skips the rest of {@code line}. */
  void skipLine(int line) {
    while (!atEnd() && peek().line() == line) {
      at++;
    }
  }

  /** Skips to behind the next ';', or to before the next brace. */
  void skipStatement() {
    while (!atEnd() && !peek().is("{") && !peek().is("}")) {
      if (next().is(";")) {
        return;
      }
    }
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
}
