package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.LoadScoreboard;
import dev.doorbell.ptxvm.engine.machine.LoadScoreboard.PendingLoad;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import org.jspecify.annotations.Nullable;

/** An access that brings registers their values, at once or when the fabric has them. */
public abstract class LoadOp extends MemoryOp implements PendingLoad {
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
   * Returns true if a thread may go on while it is under way: it may be of memory that a fabric
   * takes time for, and orders nothing itself.
   */
  public final boolean mayGoAhead() {
    return switch (Access.semantics(access)) {
      case Access.WEAK, Access.NON_COHERENT, Access.RELAXED, Access.VOLATILE -> !space.isWindow();
      default -> false;
    };
  }

  /**
   * A load that the thread does not wait for; {@link ScoreboardWait} does, where its value is
   * wanted.
   */
  public static final class NonBlockingLoad extends Op {
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
}
