package dev.doorbell.core.fabric.timed.thread;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The cells that a thread looked at lately: how long a round takes between two looks that find the
 * same, and at which phase of its rounds each wait is. A wait begins with a look that finds
 * something new, or with the first one behind a store; its second look comes anywhere in a round,
 * by chance.
 */
final class Looks {
  private static final int CELLS = 8;

  private final SplittableRandom phases;
  private final long[] addresses = new long[CELLS];
  private final long[] values = new long[CELLS];
  private final long[] last = new long[CELLS];
  private final long[] rounds = new long[CELLS];

  /** Looks of the wait that the cell is in; negative where the time since the last says nothing. */
  private final int[] looks = new int[CELLS];

  /** True once the phase of that wait was drawn. */
  private final boolean[] drawn = new boolean[CELLS];

  /** The shortest rounds, of cells here and of cells elsewhere. */
  private final long[] shortest = new long[2];

  private long least;
  private int oldest;

  Looks(SplittableRandom phases) {
    this.phases = phases;
  }

  private int find(long address) {
    for (int i = 0; i < CELLS; i++) {
      if (addresses[i] == address) {
        return i;
      }
    }
    return -1;
  }

  /** A look at memory elsewhere takes {@code picos}, which is a round at least. */
  void takes(long picos) {
    least = picos;
  }

  /** Picoseconds of a round that looks at {@code address}; 0 where none was seen. */
  long round(long address, long reach) {
    int i = find(address);
    if (i >= 0 && rounds[i] != 0) {
      return rounds[i];
    }
    return reach == 0 || shortest[1] != 0 ? shortest[reach == 0 ? 0 : 1] : least;
  }

  /**
   * Draws the phase of a wait, once.
   *
   * @param reach how long a look takes to arrive
   * @return how much later than at once the next look leaves; negative where it left before the one
   *     before had returned, by no more than {@code reach}
   */
  long draw(long address, long reach) {
    int i = find(address);
    long round = round(address, reach);
    if (i < 0 || looks[i] == 0 || drawn[i] || round == 0) {
      return 0;
    }
    drawn[i] = true;
    looks[i] = -Math.abs(looks[i]);
    return (long) (phases.nextDouble() * round) - Math.min(round / 2, reach);
  }

  /** A look returned {@code value}. */
  void returned(long address, long value, long time, long reach) {
    int i = find(address);
    if (i < 0) {
      i = oldest;
      oldest = (oldest + 1) % CELLS;
      addresses[i] = address;
      looks[i] = 0;
      rounds[i] = 0;
    } else if (values[i] == value && looks[i] != 0) {
      if (looks[i] > 0) {
        long round = Math.max(1, time - last[i]);
        int elsewhere = reach == 0 ? 0 : 1;
        rounds[i] = rounds[i] == 0 ? round : Math.min(rounds[i], round);
        shortest[elsewhere] =
            shortest[elsewhere] == 0 ? round : Math.min(shortest[elsewhere], round);
      }
      looks[i] = 2;
      last[i] = time;
      return;
    }
    looks[i] = 1;
    drawn[i] = false;
    values[i] = value;
    last[i] = time;
  }

  /** The thread stored something: its next look at any cell begins a wait. */
  void left() {
    Arrays.fill(looks, 0);
  }

  /** The thread slept: the time since its last looks says nothing about a round. */
  void interrupted() {
    for (int i = 0; i < CELLS; i++) {
      looks[i] = -Math.abs(looks[i]);
    }
  }
}
