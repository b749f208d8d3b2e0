package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/** A load that the thread does not wait for; {@link Awaiting} does, where its value is wanted. */
final class AheadLoad extends Op {
  private final LoadOp load;

  AheadLoad(LoadOp load) {
    this.load = load;
    this.place = load.place;
  }

  @Override
  void follow(@Nullable Op after) {
    super.follow(after);
    load.follow(after);
  }

  @Override
  @Nullable Op execute(VmThread t, long[] r) {
    LoadsAhead ahead = t.ahead;
    long address = r[load.base] + load.offset;
    if (ahead == null || (load.space == Space.GENERIC && t.isScratch(address))) {
      return load.execute(t, r);
    }
    t.checkAligned("load", address, load.bytes);
    return ahead.issue(t, load, address) ? next : t.park(this);
  }
}
