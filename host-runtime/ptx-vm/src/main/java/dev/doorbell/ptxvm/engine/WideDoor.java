package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/**
 * Where a warp goes on with all its lanes together: at an operation where they met, or where it was
 * interrupted. One lane executes it for all; the others wait meanwhile.
 */
final class WideDoor extends Op {
  final WideCode code;
  final int chunk;

  /** The operation where the lanes met, which is still to be done; null where interrupted. */
  final @Nullable MeetingOp meeting;

  /** What the lanes bring along; used with {@link #meeting} only. */
  final int crossing;

  WideDoor(WideCode code, int chunk, @Nullable MeetingOp meeting, int crossing, int place) {
    this.code = code;
    this.chunk = chunk;
    this.meeting = meeting;
    this.crossing = crossing;
    this.place = place;
  }

  @Override
  @Nullable Op execute(VmThread t, long[] r) {
    return t.warp.wide().step(this);
  }
}
