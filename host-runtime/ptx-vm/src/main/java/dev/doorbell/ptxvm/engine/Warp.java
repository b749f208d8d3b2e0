package dev.doorbell.ptxvm.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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

  /** The first {@code open} are under way; the others are kept for reuse. */
  private Meeting[] meetings = {};

  private int open;

  private @Nullable WideWarp wide;

  /** The lane whose operation was last executed out of line: an error there is its. */
  @Nullable VmThread acting;

  Warp(Cta cta, int lanes) {
    this.cta = cta;
    this.lanes = new VmThread[lanes];
    this.gone = lanes == SIZE ? 0 : -1 << lanes;
  }

  /** Lanes that wait for the rest of a mask; several at once when their masks are disjoint. */
  private static final class Meeting {
    WarpOp op;
    int mask;
    int arrived;

    Meeting(WarpOp op) {
      this.op = op;
    }
  }

  /**
   * {@code t} arrives at {@code op} with {@code t.mask}; releases all when it was the last.
   *
   * @return where all of them go on together, or null when each goes on by itself
   */
  @Nullable Op arrive(VmThread t, WarpOp op) {
    int mask = t.mask;
    if ((mask >>> t.lane & 1) == 0) {
      throw new Fault(
          "lane %d executes a warp operation whose mask 0x%08x does not name it"
              .formatted(t.lane, mask));
    }
    Meeting meeting = null;
    for (int i = 0; i < open; i++) {
      Meeting other = meetings[i];
      boolean pairs = other.op == op || (op.isBarrier() && other.op.isBarrier());
      if (pairs && other.mask == mask) {
        meeting = other;
      } else if ((other.mask >>> t.lane & 1) != 0 && (other.arrived & mask) != 0) {
        throw mismatch(t, other, pairs);
      }
    }
    if (meeting == null) {
      meeting = open(op, mask);
    }
    meeting.arrived |= 1 << t.lane;
    t.op = op;
    return complete(meeting, t);
  }

  private Meeting open(WarpOp op, int mask) {
    if (open == meetings.length) {
      meetings = Arrays.copyOf(meetings, open + 1);
      meetings[open] = new Meeting(op);
    }
    Meeting meeting = meetings[open++];
    meeting.op = op;
    meeting.mask = mask;
    meeting.arrived = 0;
    return meeting;
  }

  private Fault mismatch(VmThread t, Meeting other, boolean pairs) {
    int lane = Integer.numberOfTrailingZeros(other.arrived & t.mask);
    return pairs
        ? new Fault(
            "lane %d has mask 0x%08x, lane %d waits at the same warp operation with mask 0x%08x"
                .formatted(t.lane, t.mask, lane, other.mask))
        : new Fault(
            "lane %d meets lane %d of its mask 0x%08x at another warp operation: %s"
                .formatted(t.lane, lane, t.mask, cta.grid.code.describe(other.op)));
  }

  /** Does the operation when every lane of the mask that still lives has arrived. */
  private @Nullable Op complete(Meeting meeting, @Nullable VmThread last) {
    int members = meeting.mask & ~gone;
    if ((members & ~meeting.arrived) != 0) {
      return null;
    }
    WarpOp op = meeting.op;
    close(meeting);
    Op together = last == null ? null : together(last, op, members);
    if (together == null) {
      op.meetApart(lanes, members);
    }
    return together;
  }

  /**
   * Where the warp may go on with all its lanes together, when {@code members} are all that live;
   * {@code last} executes for all of them then.
   */
  @Nullable Op together(VmThread last, MeetingOp op, int members) {
    KernelCode code = cta.grid.code;
    if (members != ~gone
        || !code.isWide()
        || op.apart
        || Integer.bitCount(members) < WideWarp.FEWEST
        || !wide().isWilling()) {
      return null;
    }
    WideDoor door = code.door(op, lanes, members);
    if (door != null) {
      wide().claim(last, members);
    }
    return door;
  }

  WideWarp wide() {
    WideWarp known = wide;
    if (known == null) {
      known = new WideWarp(this);
      wide = known;
    }
    return known;
  }

  private void close(Meeting meeting) {
    open--;
    for (int i = 0; i < open; i++) {
      if (meetings[i] == meeting) {
        meetings[i] = meetings[open];
        meetings[open] = meeting;
        return;
      }
    }
  }

  /** A lane is gone for good: those that waited for it need not. */
  void exited(VmThread t) {
    gone |= 1 << t.lane;
    for (int i = open - 1; i >= 0; i--) {
      if ((meetings[i].mask >>> t.lane & 1) != 0) {
        complete(meetings[i], null);
      }
    }
  }
}
