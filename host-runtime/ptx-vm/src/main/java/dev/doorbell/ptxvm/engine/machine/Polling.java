package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;

/**
 * Summary of what a thread did in the current round of a loop: enough to tell whether the round
 * only polled and found what it found before.
 *
 * <p>Two rounds are alike when they loaded the same values from the same addresses, in the same
 * order, and did nothing that another thread could see. A loop over an array loads from other
 * addresses each round and is never taken for a poll.
 */
public final class Polling {
  private static final long MIX = 0x9e3779b97f4a7c15L;
  private static final int MAX_DOUBLINGS = 20;
  private static final int CELLS = 8;
  private static final long[] NONE = {};

  /** Stores, successful atomics and meetings so far. */
  private long effects;

  /** Hash of the loads since the round began. */
  private long history;

  /** Cells of strong loads and failed atomics of this round, or of the one that just ended. */
  private long[] cells = NONE;

  private long[] values = NONE;
  private final byte[] lengths = new byte[CELLS];
  private int count;
  private boolean over;

  /** True when the fabric has a cell to wait for. */
  private boolean strongLoad;

  private long lastEffects = -1;
  private long lastHistory;
  private int alike;

  /** A load through the port or from a window. */
  public void loaded(long address, long value) {
    history = (history ^ address) * MIX + value;
  }

  /** The load went through the port with a strong access. */
  public void loadedStrongly(long address, int bytes, long value) {
    strongLoad = true;
    watch(address, bytes, value);
  }

  /** Remembers a cell of global memory on which the round's outcome depends. */
  public void watch(long address, int bytes, long value) {
    if (over) {
      over = false;
      count = 0;
    }
    if (cells.length == 0) {
      cells = new long[CELLS];
      values = new long[CELLS];
    }
    if (count < CELLS) {
      cells[count] = address;
      lengths[count] = (byte) bytes;
      values[count] = value;
    }
    count++;
  }

  /** True while every cell of the round that failed holds what it held then. */
  boolean unchanged(AddressSpace memory) {
    if (count == 0 || count > CELLS) {
      return false;
    }
    for (int i = 0; i < count; i++) {
      if (!memory.accessible(cells[i], lengths[i]) || value(cells[i], lengths[i]) != values[i]) {
        return false;
      }
    }
    return true;
  }

  private static long value(long address, int bytes) {
    return switch (bytes) {
      case 1 -> RawMemory.getByteOpaque(address) & 0xffL;
      case 2 -> RawMemory.getShortOpaque(address) & 0xffffL;
      case 4 -> RawMemory.getIntOpaque(address) & 0xffffffffL;
      default -> RawMemory.getLongOpaque(address);
    };
  }

  /** Something that another thread can see. */
  public void acted() {
    effects++;
  }

  /** A round ends. True when it was like the one before. */
  public boolean roundEnds() {
    boolean same = effects == lastEffects && history == lastHistory;
    lastEffects = effects;
    lastHistory = history;
    history = 0;
    if (over) {
      count = 0; // the round loaded nothing
    }
    over = true;
    alike = same ? alike + 1 : 0;
    return same;
  }

  /** True when a cell was loaded that the fabric can wait for; asked once a round. */
  public boolean takeStrongLoad() {
    boolean there = strongLoad;
    strongLoad = false;
    return there;
  }

  /** Returns how often the time to wait may be doubled: once for every round in vain. */
  public int doublings() {
    return Math.min(alike, MAX_DOUBLINGS);
  }
}
