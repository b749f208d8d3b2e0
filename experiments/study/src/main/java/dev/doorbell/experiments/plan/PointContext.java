package dev.doorbell.experiments.plan;

import java.util.List;

/** The run as a running point sees it. Safe to use from any thread. */
public interface PointContext {
  /**
   * Returns whether the point should give up soon: the user pressed Ctrl-C or the point's time is
   * over. A runner asks between iterations and answers by throwing {@link PointFailure}.
   */
  boolean cancelled();

  /** Adds a line to the run's log, never to the terminal. */
  void log(String line);

  /** Reports what the point's fault plan did; called once, also when the point fails. */
  default void faults(List<FaultTally> tallies) {}
}
