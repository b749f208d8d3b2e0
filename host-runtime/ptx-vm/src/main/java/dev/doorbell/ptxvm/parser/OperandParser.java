package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.parser.TokenStream.SyntaxException;
import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Operand lists of instructions. */
final class OperandParser {
  /** Special registers with an x, a y and a z (PTX ISA, "Special Registers"). */
  private static final Pattern SPECIAL_VECTORS =
      Pattern.compile("%(n?tid|n?ctaid|n?clusterid|cluster_n?ctaid)\\.[xyz]");

  /** The other ones. */
  private static final Pattern SPECIAL =
      Pattern.compile(
          "%(n?warpid|laneid|n?smid|gridid|lanemask_(eq|le|lt|ge|gt)|clock(_hi|64)?"
              + "|globaltimer(_lo|_hi)?|(total|dynamic|aggr)_smem_size|is_explicit_cluster"
              + "|cluster_n?ctarank|envreg([12]?[0-9]|3[01])|pm[0-7](_64)?|current_graph_exec|reserved_smem_offset_(begin|end|cap|0|1))");

  /** Deeper nesting than any instruction has; a fuzzed file must not exhaust the stack. */
  private static final int MAX_DEPTH = 4;

  private final TokenStream tokens;
  private final Names names;

  interface Names {
    @Nullable Operand find(String name);
  }

  OperandParser(TokenStream tokens, Names names) {
    this.tokens = tokens;
    this.names = names;
  }

  /** All operands up to the ';', which stays. */
  List<Operand> list() throws SyntaxException {
    List<Operand> list = new ArrayList<>();
    if (tokens.peek().is(";")) {
      return list;
    }
    do {
      list.add(operand(0));
    } while (tokens.accept(","));
    return list;
  }

  private Operand operand(int depth) throws SyntaxException {
    if (depth > MAX_DEPTH) {
      throw tokens.unexpected("an operand");
    }
    if (tokens.accept("{")) {
      List<Operand> elements = elements("}", depth);
      return elements.size() == 1 ? elements.getFirst() : new Operand.Vector(elements);
    }
    if (tokens.accept("(")) {
      return new Operand.Arguments(elements(")", depth));
    }
    if (tokens.accept("[")) {
      Operand address = address();
      if (!tokens.peek().is(",")) {
        tokens.expect("]");
        return address;
      }
      List<Operand> elements = new ArrayList<>(List.of(address)); // coordinates of a tensor
      while (tokens.accept(",")) {
        elements.add(operand(depth + 1));
      }
      tokens.expect("]");
      return new Operand.Arguments(List.copyOf(elements));
    }
    if (tokens.accept("!")) {
      int line = tokens.peek().line();
      if (named() instanceof Operand.Reg(Register register)) {
        return new Operand.Not(register);
      }
      throw new SyntaxException(line, "'!' stands before a predicate register");
    }
    if (tokens.peek().is("-") && tokens.peek(1).kind() == Token.Kind.NAME) {
      tokens.next();
      int line = tokens.peek().line();
      return switch (named()) {
        case Operand.Reg(Register register) -> new Operand.Part(register, "", true);
        case Operand.Part(Register register, String selector, _) ->
            new Operand.Part(register, selector, true);
        default -> throw new SyntaxException(line, "'-' stands before a register");
      };
    }
    if (tokens.peek().kind() == Token.Kind.NAME) {
      Operand first = named();
      if (tokens.accept("|")) {
        return new Operand.Pair(first, operand(depth + 1));
      }
      return plusOffset(first);
    }
    return tokens.literal();
  }

  private List<Operand> elements(String end, int depth) throws SyntaxException {
    List<Operand> elements = new ArrayList<>();
    while (!tokens.accept(end)) {
      elements.add(operand(depth + 1));
      if (!tokens.accept(",") && !tokens.peek().is(end)) {
        throw tokens.unexpected("',' or '" + end + "'");
      }
    }
    return List.copyOf(elements);
  }

  private Operand plusOffset(Operand operand) throws SyntaxException {
    if (tokens.peek().is("+") || tokens.peek().is("-")) {
      int line = tokens.peek().line();
      long offset = tokens.integer();
      if (operand instanceof Operand.Symbol symbol) {
        return new Operand.Symbol(symbol.variable(), symbol.offset() + offset, symbol.generic());
      }
      throw new SyntaxException(line, "an offset stands after a variable's name only");
    }
    return operand;
  }

  private Operand address() throws SyntaxException {
    if (tokens.peek().kind() != Token.Kind.NAME) {
      return new Operand.Address(null, tokens.integer());
    }
    Operand base = named();
    long offset = 0;
    while (tokens.peek().is("+") || tokens.peek().is("-")) {
      offset += tokens.integer();
    }
    return new Operand.Address(base, offset);
  }

  /** {@code v.x} of a vector register, {@code r.h1} of a register. */
  private Operand component(Operand whole, Token name) throws SyntaxException {
    String word = tokens.next().text();
    if (whole instanceof Operand.Vector(List<Operand> elements)) {
      int index = word.length() == 1 ? Math.max("xyzw".indexOf(word), "rgba".indexOf(word)) : -1;
      if (index >= 0 && index < elements.size() && isVector(elements.getFirst())) {
        return elements.get(index);
      }
    }
    if (whole instanceof Operand.Reg(Register register) && word.matches("b[0-7]+|h[0-3]+")) {
      return new Operand.Part(register, word, false);
    }
    throw new SyntaxException(name.line(), "%s has no component .%s".formatted(name, word));
  }

  /** Returns true of an element of a vector register; halves of 128 bits have other names. */
  private static boolean isVector(Operand element) {
    return element instanceof Operand.Reg(Register register) && register.name().endsWith(".x");
  }

  private Operand named() throws SyntaxException {
    Token token = tokens.peek();
    String name = tokens.name();
    if (name.equals("_")) {
      return new Operand.Sink();
    }
    Operand known = names.find(name);
    if (known != null) {
      return tokens.peek().kind() == Token.Kind.DOT && tokens.peek().joined()
          ? component(known, token)
          : known;
    }
    if (name.startsWith("%")) {
      if (tokens.peek().kind() == Token.Kind.DOT && tokens.peek().joined()) {
        name += "." + tokens.next().text();
      }
      if (isSpecial(name)) {
        return new Operand.Special(name);
      }
      throw new SyntaxException(token.line(), "register '%s' is not declared".formatted(name));
    }
    if (name.equals("WARP_SZ")) {
      return new Operand.Int(32);
    }
    if (name.equals("generic") && tokens.accept("(")) {
      Operand inner = names.find(tokens.name());
      tokens.expect(")");
      if (inner instanceof Operand.Symbol symbol) {
        return new Operand.Symbol(symbol.variable(), symbol.offset(), true);
      }
      throw new SyntaxException(token.line(), "generic() takes a variable");
    }
    return new Operand.Name(name);
  }

  private static boolean isSpecial(String name) {
    return SPECIAL_VECTORS.matcher(name).matches() || SPECIAL.matcher(name).matches();
  }
}
