package dev.doorbell.ptxvm.engine;

import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The lanes that are here together. Hardware promises nothing; this lets lanes that are on their
 * way arrive, and gives up on one that polls, sleeps, waits elsewhere or takes very long. A lane
 * that has been told whom it is with, and has not gone on yet, is with nobody else.
 */
@SuppressWarnings("ReferenceEquality") // operations and threads are compared by identity
final class ActiveMask extends MeetingOp {
  private static final int PATIENCE = 64;
  final int d;

  ActiveMask(int d) {
    this.d = d;
  }

  @Override
  @Nullable Op execute(VmThread t, long[] r) {
    if (t.released) {
      t.released = false;
      t.patience = 0;
      r[d] = t.result;
      return next;
    }
    if (t.until == this) {
      return t.arrive(this);
    }
    t.stray = false;
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
    if (othersComing && t.patience < PATIENCE) {
      t.patience++;
      t.op = this;
      return null;
    }
    Op together = t.warp.together(t, this, here);
    if (together != null) {
      return together;
    }
    forget(t.warp.lanes, here);
    meetApart(t.warp.lanes, here);
    t.released = false;
    t.patience = 0;
    r[d] = here & 0xffffffffL;
    return next;
  }

  /**
   * Whether a lane may arrive soon. One that polls may, too: were it left behind, it would stay
   * behind for as long as one part of the warp polls when the other one comes by. Where time is
   * virtual, waiting for it would cost some.
   */
  private static boolean isComing(VmThread lane) {
    return !lane.exited
        && !lane.waiting
        && (!lane.idle || (!lane.stray && lane.cta.grid.isEmulated()));
  }

  /** Those who did not come although the others waited are not waited for until they do. */
  private static void forget(VmThread[] lanes, int here) {
    for (VmThread lane : lanes) {
      lane.stray |= lane.idle && (here >>> lane.lane & 1) == 0;
    }
  }

  @Override
  void meetApart(VmThread[] lanes, int members) {
    for (int left = members; left != 0; left &= left - 1) {
      VmThread lane = lanes[Integer.numberOfTrailingZeros(left)];
      lane.result = members & 0xffffffffL;
      lane.released = true;
    }
  }

  @Override
  int maskSlot() {
    return -1;
  }

  @Override
  boolean writesUniform(int slot, IntPredicate uniform) {
    return true;
  }
}
