package dev.doorbell.ptxvm.engine;

/** The function of an instruction with three operands. */
@FunctionalInterface
interface Ternary {
  long apply(long a, long b, long c);
}
