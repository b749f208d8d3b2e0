package dev.doorbell.ptxvm.engine;

/**
 * The 32 lanes of a warp, which meet at {@code .sync} operations. There is no lockstep: a lane that
 * arrives waits for the others of its mask; the last one does the operation for all.
 */
@SuppressWarnings("ReferenceEquality") // operations and threads are compared by identity
final class Warp {
  static final int SIZE = 32;

  final Cta cta;
  final VmThread[] lanes;

  /** Lanes that have exited or never were. */
  int gone;

  Warp(Cta cta, int lanes) {
    this.cta = cta;
    this.lanes = new VmThread[lanes];
    this.gone = lanes == SIZE ? 0 : -1 << lanes;
  }

  /** {@code t} arrives at {@code op} with {@code t.mask}; releases all when it was the last. */
  void arrive(VmThread t, WarpOp op) {
    if ((t.mask >>> t.lane & 1) == 0) {
      throw new Fault(
          "lane %d executes a warp operation whose mask 0x%08x does not name it"
              .formatted(t.lane, t.mask));
    }
    for (int i = 0; i < lanes.length; i++) {
      VmThread other = lanes[i];
      if ((t.mask >>> i & 1) != 0 && other != t && isHere(other)) {
        requireSame(t, op, other);
      }
    }
    t.op = op;
    complete(t, op);
  }

  private static boolean isHere(VmThread lane) {
    return lane.waiting && lane.op instanceof WarpOp;
  }

  private void requireSame(VmThread t, WarpOp op, VmThread other) {
    WarpOp theirs = (WarpOp) other.op;
    if (theirs == null || (other.mask >>> t.lane & 1) == 0) {
      return;
    }
    boolean pairs = theirs == op || (op.isBarrier() && theirs.isBarrier());
    if (!pairs) {
      throw new Fault(
          "lane %d meets lane %d of its mask 0x%08x at another warp operation: %s"
              .formatted(t.lane, other.lane, t.mask, cta.grid.code.describe(theirs)));
    }
    if (other.mask != t.mask) {
      throw new Fault(
          "lane %d has mask 0x%08x, lane %d waits at the same warp operation with mask 0x%08x"
              .formatted(t.lane, t.mask, other.lane, other.mask));
    }
  }

  /** Does the operation when every lane of the mask that still lives has arrived. */
  private void complete(VmThread t, WarpOp op) {
    int members = t.mask & ~gone;
    for (int i = 0; i < lanes.length; i++) {
      VmThread lane = lanes[i];
      if ((members >>> i & 1) != 0 && lane != t && !(isHere(lane) && lane.mask == t.mask)) {
        return;
      }
    }
    op.meet(lanes, members);
    for (int i = 0; i < lanes.length; i++) {
      if ((members >>> i & 1) != 0) {
        lanes[i].release();
      }
    }
  }

  /** A lane is gone for good: those that waited for it need not. */
  void exited(VmThread t) {
    gone |= 1 << t.lane;
    for (VmThread lane : lanes) {
      if (isHere(lane) && (lane.mask >>> t.lane & 1) != 0 && lane.op instanceof WarpOp op) {
        complete(lane, op);
      }
    }
  }
}
