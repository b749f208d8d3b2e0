package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A kernel ({@code .entry}) or device function ({@code .func}).
 *
 * @param parameters in order; those of old-style functions passed in registers are refused
 * @param results of a function; an entry has none
 * @param content its body; an empty one of a declaration
 * @param defined false for a declaration without a body
 * @param line of its name in the PTX
 */
public record Function(
    String name,
    boolean entry,
    List<Variable> parameters,
    List<Variable> results,
    Content content,
    boolean defined,
    int line) {

  /**
   * A parsed body.
   *
   * @param locals {@code .local} variables and the {@code .param} variables of call sequences
   * @param shared {@code .shared} variables declared inside
   * @param refusals what the parser refused of a body that was parsed late
   */
  public record Body(
      List<Register> registers,
      List<Variable> locals,
      List<Variable> shared,
      List<Instruction> code,
      List<Refusal> refusals) {
    /** The body of a declaration. */
    public static final Body NONE = new Body(List.of(), List.of(), List.of(), List.of(), List.of());
  }

  /** A body, or how it is parsed when something needs it. */
  public static final class Content {
    private final @Nullable Supplier<Body> parser;
    private @Nullable Body body;

    private Content(@Nullable Supplier<Body> parser, @Nullable Body body) {
      this.parser = parser;
      this.body = body;
    }

    public static Content of(Body body) {
      return new Content(null, body);
    }

    /** A body that is parsed when it is first asked for. */
    public static Content late(Supplier<Body> parser) {
      return new Content(parser, null);
    }

    boolean isLate() {
      return parser != null;
    }

    synchronized Body get() {
      Body known = body;
      if (known == null) {
        known = parser == null ? Body.NONE : parser.get();
        body = known;
      }
      return known;
    }
  }

  public List<Register> registers() {
    return content.get().registers;
  }

  public List<Variable> locals() {
    return content.get().locals;
  }

  public List<Variable> shared() {
    return content.get().shared;
  }

  public List<Instruction> code() {
    return content.get().code;
  }

  public List<Refusal> refusals() {
    return content.get().refusals;
  }

  /** Returns true if the body is parsed when something needs it. */
  public boolean isLate() {
    return content.isLate();
  }

  /** The index where the control goes on after instruction {@code index}, besides the next one. */
  public static List<Integer> targets(Instruction instruction) {
    if (instruction.operands().isEmpty()) {
      return List.of();
    }
    if (instruction.name().equals("bra")
        && instruction.operands().getFirst() instanceof Operand.Target(int index)) {
      return List.of(index);
    }
    if (instruction.name().equals("brx")
        && instruction.operands().getLast() instanceof Operand.Targets(List<Integer> indices)) {
      return indices;
    }
    return List.of();
  }
}
