package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.parser.TokenStream.SyntaxException;
import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.util.ArrayList;
import java.util.List;

/** Declarations of variables in memory: alignment, type, array bounds, initialiser. */
final class VariableParser {
  /** Largest size that a declaration may ask for; a fuzzed bound must not become an allocation. */
  private static final long MAX_BYTES = 1L << 33;

  /** Deeper nesting than any array has; a fuzzed file must not exhaust the stack. */
  private static final int MAX_DEPTH = 16;

  private final TokenStream tokens;

  VariableParser(TokenStream tokens) {
    this.tokens = tokens;
  }

  /** Parses what follows the state space; the closing ';' or ',' stays. */
  Variable declaration(StateSpace space, boolean external) throws SyntaxException {
    int align = 0;
    int vector = 1;
    ScalarType type = null;
    while (tokens.peek().kind() == Token.Kind.DOT) {
      Token token = tokens.next();
      switch (token.text()) {
        case "align" -> align = tokens.count();
        case "v2" -> vector = 2;
        case "v4" -> vector = 4;
        // What a kernel parameter points to: nothing that changes its value.
        case "ptr", "global", "const", "shared", "local" -> {}
        case "attribute" -> skipParentheses();
        // Names of textures and surfaces: 64 bits that nothing executed reads.
        case "texref", "samplerref", "surfref" -> type = ScalarType.B64;
        default -> {
          type = ScalarType.of(token.text());
          if (type == null) {
            throw new SyntaxException(token.line(), "unknown type " + token);
          }
        }
      }
    }
    if (type == null) {
      throw tokens.unexpected("a type");
    }
    Token name = tokens.peek();
    String word = tokens.name();
    long elements = bounds(vector);
    long bytes = Math.multiplyHigh(elements, type.bytes()) == 0 ? elements * type.bytes() : -1;
    if (bytes < 0 || bytes > MAX_BYTES) {
      throw new SyntaxException(name.line(), "variable '%s' is too large".formatted(word));
    }
    int natural = align == 0 ? type.bytes() * vector : align;
    if (Integer.bitCount(natural) != 1 || natural > 4096) {
      throw new SyntaxException(name.line(), natural + " is not a possible alignment");
    }
    List<Variable.Initial> initial = new ArrayList<>();
    if (tokens.accept("=")) {
      long used = values(type, 0, initial, 0);
      bytes = Math.max(bytes, used);
    }
    return new Variable(word, space, type, bytes, natural, external, List.copyOf(initial));
  }

  private long bounds(int vector) throws SyntaxException {
    long elements = vector;
    while (tokens.accept("[")) {
      long bound = tokens.peek().is("]") ? 0 : tokens.count();
      tokens.expect("]");
      elements = Math.multiplyHigh(elements, bound) == 0 ? elements * bound : -1;
      if (elements < 0 || elements > MAX_BYTES) {
        return MAX_BYTES + 1;
      }
    }
    return elements;
  }

  private long values(ScalarType type, long at, List<Variable.Initial> into, int depth)
      throws SyntaxException {
    if (depth > MAX_DEPTH) {
      throw tokens.unexpected("a value");
    }
    long offset = at;
    if (tokens.accept("{")) {
      while (!tokens.accept("}")) {
        offset = values(type, offset, into, depth + 1);
        if (!tokens.accept(",") && !tokens.peek().is("}")) {
          throw tokens.unexpected("',' or '}'");
        }
      }
      return offset;
    }
    into.add(new Variable.Initial(offset, type.bytes(), value()));
    return offset + type.bytes();
  }

  private Operand value() throws SyntaxException {
    if (tokens.peek().kind() != Token.Kind.NAME) {
      return tokens.literal();
    }
    int line = tokens.peek().line();
    String name = tokens.name();
    boolean generic = name.equals("generic") && tokens.accept("(");
    if (generic) {
      name = tokens.name();
      tokens.expect(")");
    } else if (tokens.peek().is("(")) {
      throw new SyntaxException(line, "masks in initialisers are not supported");
    }
    long offset = 0;
    if (tokens.peek().is("+") || tokens.peek().is("-")) {
      offset = tokens.integer();
    }
    // Resolved once all variables and functions are known.
    return offset == 0
        ? new Operand.Name(name)
        : new Operand.Address(new Operand.Name(name), offset);
  }

  void skipParentheses() throws SyntaxException {
    tokens.expect("(");
    int depth = 1;
    while (depth > 0 && !tokens.atEnd()) {
      Token token = tokens.next();
      depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
    }
  }
}
