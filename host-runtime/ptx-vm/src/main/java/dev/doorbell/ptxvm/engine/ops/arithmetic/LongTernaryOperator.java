package dev.doorbell.ptxvm.engine.ops.arithmetic;

/** The function of an instruction with three operands. */
@FunctionalInterface
public interface LongTernaryOperator {
  long apply(long a, long b, long c);
}
