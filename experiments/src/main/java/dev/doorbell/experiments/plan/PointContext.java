package dev.doorbell.experiments.plan;

import java.util.List;

/** What a running point may ask of the run around it. Safe to use from any thread. */
public interface PointContext {
  /**
   * Whether the point should give up soon: the user pressed Ctrl-C or the point's time is over. A
   * runner asks between iterations and answers by throwing {@link PointFailure}.
   */
  boolean cancelled();

  /** Adds a line to the run's log, never to the terminal. */
  void log(String line);

  /**
   * What the point's fault plan did; told once, also when the point fails.
   *
   * @param tallies in the order of the plan
   */
  default void faults(List<FaultTally> tallies) {}
}
