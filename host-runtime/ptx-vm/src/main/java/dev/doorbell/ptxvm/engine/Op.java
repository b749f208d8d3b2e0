package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/**
 * One instruction of a kernel, ready to run: operands are slots of the register file, constants and
 * launch constants too.
 *
 * <p>Registers hold what their width holds, zero-extended to 64 bits; an operation keeps it so.
 * Operations read all operands before they write one, and never share a slot between the two, so an
 * access that the port parked can be issued again.
 */
abstract class Op {
  /** What comes next in the program; null only behind the end of a function. */
  @Nullable Op next;

  /** Index in {@link KernelCode#places}. */
  int place;

  /** Links what comes next. */
  void follow(@Nullable Op after) {
    next = after;
  }

  /**
   * Executes for {@code t}.
   *
   * @param r the thread's register file
   * @return what to execute next, or null when the thread must leave its step: it has set {@link
   *     VmThread#op} then
   */
  abstract @Nullable Op execute(VmThread t, long[] r);
}
