package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.parser.TokenStream.SyntaxException;
import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operand lists of instructions. */
final class OperandParser {
  /** Deeper nesting than any instruction has; a fuzzed file must not exhaust the stack. */
  private static final int MAX_DEPTH = 4;

  private final TokenStream tokens;
  private final Names names;

  /** What names stand for at this place. */
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
      tokens.expect("]");
      return address;
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
      if (SpecialRegisters.isKnown(name)) {
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

  /** The special registers that can be read (PTX ISA, "Special Registers"). */
  static final class SpecialRegisters {
    private static final Set<String> NAMES =
        Set.of(
            "%tid.x",
            "%tid.y",
            "%tid.z",
            "%ntid.x",
            "%ntid.y",
            "%ntid.z",
            "%ctaid.x",
            "%ctaid.y",
            "%ctaid.z",
            "%nctaid.x",
            "%nctaid.y",
            "%nctaid.z",
            "%laneid",
            "%warpid",
            "%nwarpid",
            "%smid",
            "%nsmid",
            "%gridid",
            "%lanemask_eq",
            "%lanemask_le",
            "%lanemask_lt",
            "%lanemask_ge",
            "%lanemask_gt",
            "%clock",
            "%clock_hi",
            "%clock64",
            "%globaltimer",
            "%globaltimer_lo",
            "%globaltimer_hi",
            "%total_smem_size",
            "%dynamic_smem_size",
            "%aggr_smem_size",
            "%is_explicit_cluster",
            "%clusterid.x",
            "%clusterid.y",
            "%clusterid.z",
            "%nclusterid.x",
            "%nclusterid.y",
            "%nclusterid.z",
            "%cluster_ctaid.x",
            "%cluster_ctaid.y",
            "%cluster_ctaid.z",
            "%cluster_nctaid.x",
            "%cluster_nctaid.y",
            "%cluster_nctaid.z",
            "%cluster_ctarank",
            "%cluster_nctarank",
            "%envreg1",
            "%envreg2",
            "%reserved_smem_offset_begin",
            "%reserved_smem_offset_end",
            "%reserved_smem_offset_cap",
            "%reserved_smem_offset_0",
            "%reserved_smem_offset_1");

    private SpecialRegisters() {}

    static boolean isKnown(String name) {
      return NAMES.contains(name);
    }
  }
}
