package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.ptxvm.engine.machine.LoadScoreboard;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import org.jspecify.annotations.Nullable;

/** An instruction that waits for loads under way: for those of its registers, or for all. */
public final class ScoreboardWait extends Op {
  private final Op inner;

  /** Null: all. */
  private final int @Nullable [] slots;

  private ScoreboardWait(Op inner, int @Nullable [] slots) {
    this.inner = inner;
    this.slots = slots;
    this.place = inner.place;
  }

  /** Before {@code inner}, which reads or writes these. */
  public static ScoreboardWait of(Op inner, int[] slots) {
    return new ScoreboardWait(inner, slots);
  }

  /** Before {@code inner}, which needs all registers. */
  public static ScoreboardWait all(Op inner) {
    return new ScoreboardWait(inner, null);
  }

  @Override
  public Op bare() {
    return inner.bare();
  }

  @Override
  public void follow(@Nullable Op after) {
    super.follow(after);
    inner.follow(after);
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    LoadScoreboard board = t.scoreboard;
    if (board != null && !(slots == null ? board.awaitAll() : board.await(slots))) {
      return t.park(this);
    }
    return inner.execute(t, r);
  }
}
