package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.fabric.Access;

/** An access that brings registers their values, at once or when the fabric has them. */
abstract class LoadOp extends MemoryOp {
  /** The slots that it writes. */
  int[] results = {};

  /** The value has come: it goes to the registers, and is told to who looks for polls. */
  abstract void arrived(VmThread t, long[] r, long address, long low, long high);

  /**
   * Whether a thread may go on while it is under way: it may be of memory that a fabric takes time
   * for, and orders nothing itself.
   */
  final boolean mayGoAhead() {
    return switch (Access.semantics(access)) {
      case Access.WEAK, Access.NON_COHERENT, Access.RELAXED, Access.VOLATILE -> !space.isWindow();
      default -> false;
    };
  }
}
