package dev.doorbell.ptxvm.engine;

import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** An operation at which the lanes of a mask meet. */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
abstract class WarpOp extends MeetingOp {
  /** Slot of the member mask. */
  int mask;

  @Override
  final @Nullable Op execute(VmThread t, long[] r) {
    if (!t.released) {
      if (t.until == this) {
        return t.arrive(this);
      }
      if (!ready(t)) {
        return t.park(this);
      }
      t.mask = (int) r[mask];
      offer(t, r);
      t.polling.acted();
      Op together = t.warp.arrive(t, this);
      if (together != null) {
        return together;
      }
      if (!t.released) {
        return t.await(this);
      }
    }
    t.released = false;
    take(t, r);
    return next;
  }

  @Override
  final int maskSlot() {
    return mask;
  }

  @Override
  final void meetApart(VmThread[] lanes, int members) {
    meet(lanes, members);
    for (int left = members; left != 0; left &= left - 1) {
      lanes[Integer.numberOfTrailingZeros(left)].release();
    }
  }

  @Override
  boolean writesUniform(int slot, IntPredicate uniform) {
    return false;
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
