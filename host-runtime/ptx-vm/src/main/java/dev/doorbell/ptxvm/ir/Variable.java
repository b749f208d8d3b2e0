package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.List;

/**
 * A variable in memory. Names repeat between scopes; identity is the object.
 *
 * @param name as the PTX spells it
 * @param bytes its size; 0 for {@code extern .shared} arrays, whose size the launch gives
 * @param align its alignment in bytes
 * @param external declared here, defined elsewhere (or, for shared memory, sized at launch)
 * @param initial what it holds at load, at byte offsets; the rest is zero
 */
public record Variable(
    String name,
    StateSpace space,
    ScalarType type,
    long bytes,
    int align,
    boolean external,
    List<Initial> initial) {

  /** A part of an initialiser: {@code value.bytes()} low bytes of a literal or of an address. */
  public record Initial(long offset, int bytes, Operand value) {}

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  /**
   * State space of a variable (PTX ISA, "State Spaces"). Registers are {@link Register}s instead.
   */
  public enum StateSpace {
    GLOBAL,
    CONST,
    SHARED,
    LOCAL,
    PARAM
  }
}
