package dev.doorbell.core.fabric.timed.thread;

import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.event.Simulation.Sleeper;
import dev.doorbell.core.fabric.timed.interconnect.Cells;
import dev.doorbell.core.fabric.timed.interconnect.Watches;
import dev.doorbell.core.memory.AddressSpace;
import org.jspecify.annotations.Nullable;

/**
 * The cells that a thread polls: those that it loaded since its last failed round, and how long a
 * round takes. A thread that sleeps instead of polling resumes where a round would have begun.
 */
final class Polls {
  private static final int CELLS = 16;
  private static final long SHORTEST_CAP = 20_000_000L;
  private static final long LONGEST_CAP = 1_000_000_000_000L;
  private static final long DEADLOCKED = 100 * LONGEST_CAP;
  private static final int CAP_SHARE = 8;

  /** Picoseconds up to which a sleep may be an eighth of the wait. */
  private static final long LONG_WAIT = 500_000_000L;

  /**
   * Share of a longer wait that a sleep may be. A sleep is one poll to the kernel, which looks at
   * its clock every 32nd time: it misses its deadline by 2 ms or by a quarter.
   */
  private static final int LONG_CAP_SHARE = 128;

  /** A round that fails gives back a lock at most. */
  private static final int STORES_OF_ROUND = 2;

  private final long[] addresses = new long[CELLS];
  private final int[] lengths = new int[CELLS];
  private final long[] values = new long[CELLS];
  private int count;
  private boolean overflow;
  private boolean registered;

  /** The cells are those of a round that is over; they are forgotten when the next one begins. */
  private boolean over;

  private long firstAt;
  private long previousAddress;
  private long previousAt;
  private int stores;
  private long periodOf;
  private long period;
  private long asleepSince;
  private long inVainSince = -1;
  private long inVain;
  private final @Nullable Looks looks;
  private long lookedAt;
  private long shift;
  private long headStart;

  /** Returns how long a load of the round takes to reach what it reads; 0 where that is near. */
  private long reach;

  /**
   * Nothing is polled yet.
   *
   * @param looks which draw the phase of each wait; null: rounds follow each other from the first
   *     one on
   */
  Polls(@Nullable Looks looks) {
    this.looks = looks;
  }

  /**
   * Returns how long the thread waits before it looks at a cell elsewhere.
   *
   * @param reach how long the look takes to arrive
   * @param took until it returns
   */
  long beforeLook(long address, long reach, long took) {
    if (looks == null) {
      return 0;
    }
    looks.takes(took);
    long drawn = looks.draw(address, reach);
    headStart = Math.max(headStart, -drawn);
    return Math.max(0, drawn);
  }

  /** Returns how long a look that leaves now has been under way, in truth, and forgets it. */
  long takeHeadStart() {
    long taken = headStart;
    headStart = 0;
    return taken;
  }

  /**
   * A strong load of up to 8 bytes returned.
   *
   * @param reach how long it took to reach what it reads; 0 where that is near
   */
  void loaded(long address, int bytes, long value, long time, long reach) {
    if (looks != null) {
      looks.returned(address, value, time, reach);
      lookedAt = address;
    }
    if (over) {
      clear();
    }
    if (count == 0) {
      firstAt = time;
    }
    this.reach = Math.max(this.reach, reach);
    for (int i = 0; i < count; i++) {
      if (addresses[i] == address) {
        values[i] = value;
        return;
      }
    }
    if (count == CELLS) {
      overflow = true;
      return;
    }
    addresses[count] = address;
    lengths[count] = bytes;
    values[count++] = value;
  }

  /** The thread stored something. Who stores much has left the wait that it was in. */
  void stored() {
    if (looks != null) {
      looks.left();
    }
    if (++stores > STORES_OF_ROUND) {
      left();
    }
  }

  /** Says that what the thread polls next is another wait: the round so far belongs to none. */
  void left() {
    if (looks != null) {
      looks.left();
    }
    previousAddress = 0;
    over = true;
  }

  /**
   * A round failed. True when the thread may sleep: the round before began at the same cell, so
   * that the length of a round is known, and nothing has changed since it was looked at.
   */
  boolean repeated() {
    if (count == 0 || overflow) {
      over = true;
      previousAddress = 0;
      return false;
    }
    stores = 0;
    boolean known = addresses[0] == periodOf;
    if (!known && addresses[0] == previousAddress) {
      period = Math.max(1, firstAt - previousAt);
      periodOf = previousAddress;
      known = true;
    }
    previousAddress = addresses[0];
    previousAt = firstAt;
    if (!known || changed()) {
      over = true;
      return false;
    }
    return true;
  }

  /** The thread slept between two rounds: their distance says nothing about a round's length. */
  void interrupted() {
    previousAddress = 0;
    if (looks != null) {
      looks.interrupted();
    }
  }

  boolean changed() {
    for (int i = 0; i < count; i++) {
      if (Cells.load(addresses[i], lengths[i]) != values[i]) {
        return true;
      }
    }
    return false;
  }

  private void clear() {
    count = 0;
    reach = 0;
    overflow = false;
    over = false;
  }

  /**
   * The thread has nothing to do and would sleep, so that the time until its next round says
   * nothing about their length.
   *
   * @return false when something has changed since the round that failed looked at it, or may have:
   *     once for each change, so that a thread that waits for something else sleeps
   */
  boolean idle() {
    previousAddress = 0;
    if (!over || !(overflow || changed())) {
      return true;
    }
    overflow = false;
    for (int i = 0; i < count; i++) {
      values[i] = Cells.load(addresses[i], lengths[i]);
    }
    return false;
  }

  /** Returns the longest sleep: a share of the time spent in vain so far, to meet deadlines. */
  long cap(long atMostNanos, long now) {
    asleepSince = now;
    if (looks != null) {
      long round = looks.round(lookedAt, reach);
      period = round == 0 ? period : round;
      shift = looks.draw(lookedAt, reach);
      looks.interrupted();
    }
    if (inVainSince < 0) {
      inVainSince = now;
    }
    inVain = now - inVainSince;
    long share = Math.max(Math.min(inVain, LONG_WAIT) / CAP_SHARE, inVain / LONG_CAP_SHARE);
    long cap = Math.clamp(share, SHORTEST_CAP, LONGEST_CAP);
    long most =
        atMostNanos >= LONGEST_CAP / Picos.PER_NANO
            ? LONGEST_CAP
            : Math.max(1, atMostNanos) * Picos.PER_NANO;
    return Math.min(cap, most);
  }

  /** When a thread that sleeps since {@link #cap} sees what was written at {@code when}. */
  long resumption(long when) {
    if (looks != null) {
      // The look that sees the write is the first one to arrive after it, and left before that.
      long next = asleepSince + shift;
      long leaves = next + Math.max(0, Math.ceilDiv(when - reach - next, period)) * period;
      headStart = Math.max(0, when - leaves);
      return Math.max(leaves, when);
    }
    long rounds = (when - asleepSince + period - 1) / period;
    return asleepSince + Math.max(0, rounds) * period;
  }

  /** A cell was written: the wait was not in vain. */
  void written() {
    inVainSince = -1;
  }

  /** The sleep is over. */
  void expired(long now) {
    if (inVainSince >= 0) {
      inVain = now - inVainSince;
    }
  }

  boolean isDeadlocked() {
    return inVainSince >= 0 && inVain > DEADLOCKED;
  }

  void register(Watches watches, Sleeper sleeper) {
    for (int i = 0; i < count; i++) {
      watches.add(addresses[i], lengths[i], sleeper);
    }
    registered = true;
  }

  void unregister(Watches watches, Sleeper sleeper) {
    if (registered) {
      for (int i = 0; i < count; i++) {
        watches.remove(addresses[i], sleeper);
      }
      registered = false;
      clear();
    }
  }

  String describe(AddressSpace memory) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "to " : ", or to ")
          .append("0x%x, %s".formatted(addresses[i], memory.describe(addresses[i], lengths[i])));
    }
    return text.toString();
  }
}
