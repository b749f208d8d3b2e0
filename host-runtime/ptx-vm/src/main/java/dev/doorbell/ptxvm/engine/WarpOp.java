package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/** An operation at which the lanes of a mask meet. */
abstract class WarpOp extends Op {
  /** Slot of the member mask. */
  int mask;

  @Override
  final @Nullable Op execute(VmThread t, long[] r) {
    if (!t.released) {
      if (!ready(t)) {
        return t.park(this);
      }
      t.mask = (int) r[mask];
      offer(t, r);
      t.polling.acted();
      t.warp.arrive(t, this);
      if (!t.released) {
        return t.await(this);
      }
    }
    t.released = false;
    take(t, r);
    return next;
  }

  /** True for {@code bar.warp.sync}, of which any two pair. */
  boolean isBarrier() {
    return false;
  }

  /** False while what must come before is still under way at the port. */
  boolean ready(VmThread t) {
    return true;
  }

  /** Puts what the lane brings into {@link VmThread#offered}. */
  abstract void offer(VmThread t, long[] r);

  /** Computes {@link VmThread#result} for all {@code members}. */
  abstract void meet(VmThread[] lanes, int members);

  /** Writes the lane's result. */
  abstract void take(VmThread t, long[] r);
}
