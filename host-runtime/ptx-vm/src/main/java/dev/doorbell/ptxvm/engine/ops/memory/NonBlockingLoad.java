package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.LoadScoreboard;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import org.jspecify.annotations.Nullable;

/**
 * A load that the thread does not wait for; {@link ScoreboardWait} does, where its value is wanted.
 */
public final class NonBlockingLoad extends Op {
  private final LoadOp load;

  public NonBlockingLoad(LoadOp load) {
    this.load = load;
    this.place = load.place;
  }

  @Override
  public void follow(@Nullable Op after) {
    super.follow(after);
    load.follow(after);
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    LoadScoreboard scoreboard = t.scoreboard;
    long address = r[load.base] + load.offset;
    if (scoreboard == null || (load.space == Space.GENERIC && t.isScratch(address))) {
      return load.execute(t, r);
    }
    t.checkAligned("load", address, load.bytes);
    return scoreboard.issue(load, address) ? next : t.park(this);
  }
}
