package dev.doorbell.core.fabric.explore.litmus;

/** A source operand. */
public sealed interface Operand {
  /** An immediate. */
  record Constant(int value) implements Operand {}

  /** A register; 0 until written. */
  record Register(String name) implements Operand {}
}
