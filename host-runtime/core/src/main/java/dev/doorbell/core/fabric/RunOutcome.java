package dev.doorbell.core.fabric;

/** The end of {@link Fabric#run}. */
public enum RunOutcome {
  /** The condition holds. */
  DONE,
  DEADLINE,
  /** Nothing can happen any more: every agent waits for something that will not happen. */
  STALLED
}
