package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/** An instruction that waits for loads under way: for those of its registers, or for all. */
final class Awaiting extends Op {
  private final Op inner;

  /** Null: all. */
  private final int @Nullable [] slots;

  private Awaiting(Op inner, int @Nullable [] slots) {
    this.inner = inner;
    this.slots = slots;
    this.place = inner.place;
  }

  /** Before {@code inner}, which reads or writes these. */
  static Awaiting of(Op inner, int[] slots) {
    return new Awaiting(inner, slots);
  }

  /** Before {@code inner}, which wants all registers. */
  static Awaiting all(Op inner) {
    return new Awaiting(inner, null);
  }

  @Override
  void follow(@Nullable Op after) {
    super.follow(after);
    inner.follow(after);
  }

  @Override
  @Nullable Op execute(VmThread t, long[] r) {
    LoadsAhead ahead = t.ahead;
    if (ahead != null && !(slots == null ? ahead.settleAll(t) : ahead.settle(t, slots))) {
      return t.park(this);
    }
    return inner.execute(t, r);
  }
}
