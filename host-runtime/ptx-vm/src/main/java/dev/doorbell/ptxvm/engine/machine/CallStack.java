package dev.doorbell.ptxvm.engine.machine;

import java.util.Arrays;

/** Return places of a thread, and the registers that recursive functions must find again. */
public final class CallStack {
  private Op[] returns = new Op[4];
  private long[] frames = new long[4];
  private long[] saved = new long[0];
  private int depth;
  private int savedCount;

  public boolean isEmpty() {
    return depth == 0;
  }

  public int depth() {
    return depth;
  }

  /**
   * A function is called.
   *
   * @param returning what is executed when it returns; it calls {@link #pop}
   * @param frame the caller's frame
   */
  public void push(Op returning, long frame) {
    if (depth == returns.length) {
      returns = Arrays.copyOf(returns, depth * 2);
      frames = Arrays.copyOf(frames, depth * 2);
    }
    returns[depth] = returning;
    frames[depth] = frame;
    depth++;
  }

  /** What the running function returns to. */
  public Op top() {
    return returns[depth - 1];
  }

  /** Leaves the running function; returns the frame of its caller. */
  public long pop() {
    return frames[--depth];
  }

  /** Saves the slots of a function that may run already. */
  public void save(long[] r, int first, int last) {
    int count = last - first;
    if (savedCount + count > saved.length) {
      saved = Arrays.copyOf(saved, Math.max(saved.length * 2, savedCount + count));
    }
    System.arraycopy(r, first, saved, savedCount, count);
    savedCount += count;
  }

  /** Restores what {@link #save} saved last. */
  public void restore(long[] r, int first, int last) {
    savedCount -= last - first;
    System.arraycopy(saved, savedCount, r, first, last - first);
  }
}
