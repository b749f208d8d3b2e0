package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/**
 * A door into compiled code: it stands in the program in place of the operation at which a compiled
 * region may be entered, and executes from there on until control leaves the region. Generated
 * classes extend it.
 *
 * <p>A thread between two operations looks the same to the interpreter and to compiled code: {@link
 * VmThread#op}, the register file, the frame, the call stack. So either may go on where the other
 * stopped.
 */
abstract class Entry extends Op {
  /** Which door of the region it is. */
  int door;

  /** The operation in whose place it stands. */
  @Nullable Op replaced;

  /** {@code op} as the interpreter executes it, one instruction at a time. */
  static Op interpreted(Op op) {
    return op instanceof Entry entry && entry.replaced != null ? entry.replaced : op;
  }
}
