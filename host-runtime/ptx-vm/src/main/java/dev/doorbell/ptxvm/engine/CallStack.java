package dev.doorbell.ptxvm.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Return places of a thread, and the registers that recursive functions must find again. */
final class CallStack {
  private Call[] callers = new Call[4];
  private Callee[] callees = new Callee[4];
  private long[] frames = new long[4];
  private long[] saved = new long[0];
  private int depth;
  private int savedCount;

  boolean isEmpty() {
    return depth == 0;
  }

  int depth() {
    return depth;
  }

  void push(Call caller, Callee callee, long frame, long[] r) {
    if (depth == callers.length) {
      callers = Arrays.copyOf(callers, depth * 2);
      callees = Arrays.copyOf(callees, depth * 2);
      frames = Arrays.copyOf(frames, depth * 2);
    }
    if (callee.recursive) {
      int count = callee.lastSlot - callee.firstSlot;
      if (savedCount + count > saved.length) {
        saved = Arrays.copyOf(saved, Math.max(saved.length * 2, savedCount + count));
      }
      System.arraycopy(r, callee.firstSlot, saved, savedCount, count);
      savedCount += count;
    }
    callers[depth] = caller;
    callees[depth] = callee;
    frames[depth] = frame;
    depth++;
  }

  /** Leaves the running function of {@code t}. */
  @Nullable Op leave(VmThread t, long[] r) {
    depth--;
    Callee callee = callees[depth];
    if (callee.recursive) {
      int count = callee.lastSlot - callee.firstSlot;
      savedCount -= count;
      System.arraycopy(saved, savedCount, r, callee.firstSlot, count);
    }
    long calleeFrame = t.frame;
    t.frame = frames[depth];
    return callers[depth].returned(t, r, callee, calleeFrame);
  }
}
