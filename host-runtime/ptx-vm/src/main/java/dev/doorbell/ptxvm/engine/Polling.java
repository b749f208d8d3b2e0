package dev.doorbell.ptxvm.engine;

/**
 * What a thread did in the current round of a loop: enough to tell whether the round only polled
 * and found what it found before.
 *
 * <p>Two rounds are alike when they loaded the same values from the same addresses, in the same
 * order, and did nothing that another thread could see. A loop over an array loads from other
 * addresses each round and is never taken for a poll.
 */
final class Polling {
  private static final long MIX = 0x9e3779b97f4a7c15L;
  private static final int MAX_DOUBLINGS = 20;

  /** Stores, successful atomics and meetings so far. */
  private long effects;

  /** Of the loads since the round began. */
  private long history;

  /** True when the fabric knows a cell to wait for. */
  private boolean strongLoad;

  private long lastEffects = -1;
  private long lastHistory;
  private int alike;

  /** A load through the port or from a window. */
  void loaded(long address, long value) {
    history = (history ^ address) * MIX + value;
  }

  /** The load went through the port with a strong access. */
  void loadedStrongly() {
    strongLoad = true;
  }

  /** Something that another thread can see. */
  void acted() {
    effects++;
  }

  /** A round ends. True when it was like the one before. */
  boolean roundEnds() {
    boolean same = effects == lastEffects && history == lastHistory;
    lastEffects = effects;
    lastHistory = history;
    history = 0;
    alike = same ? alike + 1 : 0;
    return same;
  }

  /** True when a cell was loaded that the fabric can wait for; asked once a round. */
  boolean takeStrongLoad() {
    boolean there = strongLoad;
    strongLoad = false;
    return there;
  }

  /** How often the time to wait may be doubled: once for every round in vain. */
  int doublings() {
    return Math.min(alike, MAX_DOUBLINGS);
  }
}
