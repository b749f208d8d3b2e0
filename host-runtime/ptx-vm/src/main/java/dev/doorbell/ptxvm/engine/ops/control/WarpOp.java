package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** An operation at which the lanes of a mask converge. */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
public abstract class WarpOp extends ConvergenceOp {
  /** Slot of the member mask. */
  int mask;

  @Override
  public final @Nullable Op execute(VmThread t, long[] r) {
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
  public final int maskSlot() {
    return mask;
  }

  @Override
  public final void completeApart(VmThread[] lanes, int members) {
    complete(lanes, members);
    for (int left = members; left != 0; left &= left - 1) {
      lanes[Integer.numberOfTrailingZeros(left)].release();
    }
  }

  @Override
  public boolean writesUniform(int slot, IntPredicate uniform) {
    return false;
  }

  /** False while what must come before is still under way at the port. */
  boolean ready(VmThread t) {
    return true;
  }

  /** Puts what the lane brings into {@link VmThread#offered}. */
  public abstract void offer(VmThread t, long[] r);

  /** Computes {@link VmThread#result} for all {@code members}. */
  public abstract void complete(VmThread[] lanes, int members);

  /** Writes the lane's result. */
  public abstract void take(VmThread t, long[] r);
}
