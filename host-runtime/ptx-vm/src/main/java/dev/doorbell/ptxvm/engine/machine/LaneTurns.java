package dev.doorbell.ptxvm.engine.machine;

import org.jspecify.annotations.Nullable;

/**
 * Lets one lane of a warp run until it ends or waits for others, as hardware without independent
 * thread scheduling may: a lane that spins keeps the others of its warp from going on.
 */
@SuppressWarnings("ReferenceEquality") // threads are compared by identity
final class LaneTurns {
  private final Warp warp;
  private final boolean lowestFirst;
  private @Nullable VmThread runner;

  LaneTurns(Warp warp, boolean lowestFirst) {
    this.warp = warp;
    this.lowestFirst = lowestFirst;
  }

  /** True when {@code lane} may take a step. */
  boolean lets(VmThread lane) {
    VmThread now = runner;
    if (now == null || now.exited || now.waiting) {
      now = next();
      runner = now;
    }
    return now == lane;
  }

  private @Nullable VmThread next() {
    int count = warp.lanes.length;
    for (int i = 0; i < count; i++) {
      VmThread lane = warp.lanes[lowestFirst ? i : count - 1 - i];
      if (!lane.exited && !lane.waiting) {
        return lane;
      }
    }
    return null;
  }

  /** The runner ended or waits: the others look again. */
  void passOn() {
    for (VmThread lane : warp.lanes) {
      if (!lane.exited && !lane.waiting && !lane.port.wakeAgent()) {
        lane.grid.fabric.wake(lane);
      }
    }
  }
}
