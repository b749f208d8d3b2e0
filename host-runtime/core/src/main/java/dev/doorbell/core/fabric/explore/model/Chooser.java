package dev.doorbell.core.fabric.explore.model;

/**
 * Decides where the models leave a choice. The same answers give the same run: a chooser with a
 * seed explores at random, one that plays a list back replays, one that counts its answers up
 * searches exhaustively.
 */
@FunctionalInterface
public interface Chooser {
  /** What is chosen. */
  enum Kind {
    /** Which of the writes that a load may see it sees; 0 is the newest. */
    VALUE,
    /** Which agent goes next. */
    AGENT,
    /** How many instructions it goes, less one. */
    QUANTUM,
    /** How many of the stores that wait for a device arrive before it goes on. */
    ARRIVALS,
    /** Whether stores to a write-combining register arrive apart (1) or as one (0). */
    TEAR,
    /** Which of the packets that a device holds it places next, and how many now, less one. */
    PLACEMENT
  }

  /**
   * Chooses.
   *
   * @param alternatives how many there are, at least 2
   * @return 0 to {@code alternatives - 1}; 0 is what a simple machine would do
   */
  int choose(int alternatives, Kind what);
}
