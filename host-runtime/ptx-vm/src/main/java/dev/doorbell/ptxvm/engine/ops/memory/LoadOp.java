package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.ptxvm.engine.machine.PendingLoad;

/** An access that brings registers their values, at once or when the fabric has them. */
public abstract class LoadOp extends MemoryOp implements PendingLoad {
  /** The slots that it writes. */
  public int[] results = {};

  @Override
  public final int[] results() {
    return results;
  }

  @Override
  public final int bytes() {
    return bytes;
  }

  @Override
  public final int access() {
    return access;
  }

  /**
   * Whether a thread may go on while it is under way: it may be of memory that a fabric takes time
   * for, and orders nothing itself.
   */
  public final boolean mayGoAhead() {
    return switch (Access.semantics(access)) {
      case Access.WEAK, Access.NON_COHERENT, Access.RELAXED, Access.VOLATILE -> !space.isWindow();
      default -> false;
    };
  }
}
