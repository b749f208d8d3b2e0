package dev.doorbell.ptxvm.engine.machine;

import org.jspecify.annotations.Nullable;

/**
 * One instruction of a kernel, ready to run: operands are slots of the register file, constants and
 * launch constants too.
 *
 * <p>Registers hold what their width holds, zero-extended to 64 bits; an operation keeps it so.
 * Operations read all operands before they write one, and never share a slot between the two, so an
 * access that the port parked can be issued again.
 */
public abstract class Op {
  /** What comes next in the program; null only behind the end of a function. */
  public @Nullable Op next;

  /** Index in {@link KernelImage#instruction}. */
  public int place;

  /**
   * Picoseconds that it waits for instructions before it, beyond its turn; below 0 where it takes
   * no turn.
   */
  public long stall;

  /** Links what comes next. */
  public void follow(@Nullable Op after) {
    next = after;
  }

  /** The operation without its guard. */
  public Op bare() {
    return this;
  }

  /** The operation that the interpreter executes here, where compiled code stands in its place. */
  public Op interpreted() {
    return this;
  }

  /**
   * Executes for {@code t}.
   *
   * @param r the thread's register file
   * @return what to execute next, or null when the thread must leave its step: it has set {@link
   *     VmThread#op} then
   */
  public abstract @Nullable Op execute(VmThread t, long[] r);
}
