package dev.doorbell.experiments.workbench.calibration.run;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Seeks how many loads a thread has under way. Up to that number issuing them takes a little for
 * each; the next one is issued when the first of them has returned, a step as high as what is left
 * of a round trip. The number is doubled until there is such a step, and then halved into it.
 */
final class LoadLadder {
  /** So many are tried at most: their values are all in registers, of which a thread has 255. */
  static final int MOST = 128;

  private final SortedMap<Integer, Double> issued = new TreeMap<>();
  private double alone;

  /**
   * Takes a rung.
   *
   * @param loads that do not depend on each other
   * @param issuedAfter until the last of them was issued; in the unit of all rungs
   * @param thereAfter until all had returned
   */
  void add(int loads, double issuedAfter, double thereAfter) {
    issued.put(loads, issuedAfter);
    if (loads == 1) {
      alone = thereAfter;
    }
  }

  /** How many loads to try next; 0: it is known. One load is the first rung. */
  int next() {
    int free = free();
    int waiting = waiting();
    if (waiting == 0) {
      return free == MOST ? 0 : Math.clamp(2L * free, 1, MOST);
    }
    return waiting - free > 1 ? (free + waiting) / 2 : 0;
  }

  /** How many are under way, for as far as the rungs tell; at least 1, as one is while it waits. */
  int inFlight() {
    return Math.max(1, free());
  }

  /** Whether a load more has waited; if not, there may be more under way than were tried. */
  boolean bounded() {
    return waiting() > 0;
  }

  /** The most loads none of which waits. */
  private int free() {
    int free = 0;
    for (Map.Entry<Integer, Double> rung : issued.entrySet()) {
      if (waits(free, rung.getKey(), rung.getValue())) {
        break;
      }
      free = rung.getKey();
    }
    return free;
  }

  /** The fewest of which one waits; 0: none is known. */
  private int waiting() {
    int free = free();
    return issued.keySet().stream().filter(loads -> loads > free).findFirst().orElse(0);
  }

  /**
   * Whether the last of {@code loads} was issued nearer to the end of the first than to where it
   * would be if it had not waited, to go by {@code free} that have not.
   */
  private boolean waits(int free, int loads, double issuedAfter) {
    double unhindered = free == 0 ? 0 : issued.getOrDefault(free, 0.0) / free * loads;
    return unhindered < alone && issuedAfter > (unhindered + alone) / 2;
  }
}
