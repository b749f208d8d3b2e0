package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The lanes that are here together. Hardware promises nothing; this lets lanes that are on their
 * way arrive, and gives up on one that polls, sleeps, waits elsewhere or takes very long. A lane
 * that has been told whom it is with, and has not gone on yet, is with nobody else.
 */
@SuppressWarnings("ReferenceEquality") // operations and threads are compared by identity
public final class ActiveMask extends ConvergenceOp {
  private static final int MOST_WAITS = 64;
  public final int d;

  public ActiveMask(int d) {
    this.d = d;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    if (t.released) {
      t.released = false;
      t.activeMaskWaits = 0;
      r[d] = t.result;
      return next;
    }
    if (t.until == this) {
      return t.arrive(this);
    }
    t.leftBehind = false;
    int here = 0;
    boolean othersComing = false;
    for (VmThread lane : t.warp.lanes) {
      boolean arrived = lane == t || lane.op == this;
      if (arrived && !lane.released) {
        here |= 1 << lane.lane;
      } else if (!arrived && isComing(lane)) {
        othersComing = true;
      }
    }
    if (othersComing && t.activeMaskWaits < MOST_WAITS) {
      t.activeMaskWaits++;
      t.op = this;
      return null;
    }
    Op together = t.warp.together(t, this, here);
    if (together != null) {
      return together;
    }
    forget(t.warp.lanes, here);
    completeApart(t.warp.lanes, here);
    t.released = false;
    t.activeMaskWaits = 0;
    r[d] = here & 0xffffffffL;
    return next;
  }

  /**
   * Returns true if a lane may arrive soon. One that polls may, too: were it left behind, it would
   * stay behind for as long as one part of the warp polls when the other one comes by. Where time
   * is virtual, waiting for it would cost some.
   */
  private static boolean isComing(VmThread lane) {
    return !lane.exited
        && !lane.waiting
        && (!lane.idle || (!lane.leftBehind && lane.grid.isEmulated()));
  }

  /** Those who did not come although the others waited are not waited for until they do. */
  private static void forget(VmThread[] lanes, int here) {
    for (VmThread lane : lanes) {
      lane.leftBehind |= lane.idle && (here >>> lane.lane & 1) == 0;
    }
  }

  @Override
  public void completeApart(VmThread[] lanes, int members) {
    for (int left = members; left != 0; left &= left - 1) {
      VmThread lane = lanes[Integer.numberOfTrailingZeros(left)];
      lane.result = members & 0xffffffffL;
      lane.released = true;
    }
  }

  @Override
  public int maskSlot() {
    return -1;
  }

  @Override
  public boolean writesUniform(int slot, IntPredicate uniform) {
    return true;
  }
}
