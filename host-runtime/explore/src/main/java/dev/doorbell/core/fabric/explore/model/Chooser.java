package dev.doorbell.core.fabric.explore.model;

import java.util.List;

/**
 * Decides where the models leave a choice. The same answers give the same run: a chooser with a
 * seed explores at random, one that plays a list back replays, one that remembers which answers it
 * gave searches systematically.
 */
@FunctionalInterface
public interface Chooser {
  /** The subject of a choice. */
  enum Kind {
    /** The write that a load sees, of those that it may see; 0 is the newest. */
    VALUE,
    /** The agent that goes next. */
    AGENT,
    /** The number of instructions that it goes, less one. */
    QUANTUM,
    /** The number of stores that arrive before a device goes on, of those that wait for it. */
    ARRIVALS,
    /** The choice whether stores to a write-combining register arrive apart (1) or as one (0). */
    TEAR,
    /**
     * The packet that a device places next, of those that it holds, and their number now, less one.
     */
    PLACEMENT
  }

  /**
   * Chooses.
   *
   * @param alternatives how many there are, at least 2
   * @return 0 to {@code alternatives - 1}; 0 is what a simple machine would do
   */
  int choose(int alternatives, Kind what);

  /**
   * Chooses the agent that goes next.
   *
   * @param agents those that may, at least 2; the same objects in each turn
   * @return the index of one
   */
  default int chooseAgent(List<?> agents) {
    return choose(agents.size(), Kind.AGENT);
  }
}
