package dev.doorbell.ptxvm.ir;

/** Where a variable lies (PTX ISA, "State Spaces"). Registers are {@link Register}s instead. */
public enum StateSpace {
  GLOBAL,
  CONST,
  SHARED,
  LOCAL,
  PARAM
}
