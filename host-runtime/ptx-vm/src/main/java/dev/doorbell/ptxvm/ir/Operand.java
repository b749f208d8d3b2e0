package dev.doorbell.ptxvm.ir;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An operand of an instruction. */
public sealed interface Operand {
  record Reg(Register register) implements Operand {}

  /** {@code !p}. */
  record Not(Register register) implements Operand {}

  /**
   * Part of a register of 32 bits, as video instructions take it.
   *
   * @param selector {@code b0} to {@code b3}, {@code h0}, {@code h1}, several digits for several
   *     lanes, or nothing for the whole register
   */
  record Part(Register register, String selector, boolean negated) implements Operand {}

  record Int(long value) implements Operand {}

  /** A floating-point literal: {@code 0f...}, {@code 0d...} or decimal. */
  record Real(double value) implements Operand {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Real real
          && Double.doubleToRawLongBits(value) == Double.doubleToRawLongBits(real.value);
    }

    @Override
    public int hashCode() {
      return Double.hashCode(value);
    }
  }

  /**
   * The bits of a {@code 0f} literal, kept apart from {@link Real} so that NaN payloads survive.
   */
  record Single(int bits) implements Operand {}

  /** The address of a variable plus an offset in bytes; {@code generic} when converted. */
  record Symbol(Variable variable, long offset, boolean generic) implements Operand {}

  record FunctionName(String name) implements Operand {}

  /** {@code [base + offset]}; base is a register, a symbol or absent. */
  record Address(@Nullable Operand base, long offset) implements Operand {}

  /** {@code {a, b}}. */
  record Vector(List<Operand> elements) implements Operand {}

  /** {@code (a, b)} of a call. */
  record Arguments(List<Operand> elements) implements Operand {}

  /** {@code d|p}. */
  record Pair(Operand first, Operand second) implements Operand {}

  /** A special register, for example {@code %tid.x}. */
  record Special(String name) implements Operand {}

  /** A place in the code: an index into {@link Function#code}. */
  record Target(int index) implements Operand {}

  /** The places of a {@code .branchtargets} list. */
  record Targets(List<Integer> indices) implements Operand {}

  /** A {@code .callprototype} or {@code .calltargets} label. */
  record Prototype(String name) implements Operand {}

  /** {@code _}: nothing. */
  record Sink() implements Operand {}

  /** A name in an initialiser, resolved when the module is given memory. */
  record Name(String name) implements Operand {}

  /**
   * A register of one function. Names repeat between scopes; identity is the object.
   *
   * @param name as the PTX spells it
   * @param type its declared type
   * @param id dense within the function, from 0
   */
  public record Register(String name, ScalarType type, int id) {}
}
