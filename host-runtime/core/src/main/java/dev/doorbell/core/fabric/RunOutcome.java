package dev.doorbell.core.fabric;

/** How {@link Fabric#run} ended. */
public enum RunOutcome {
  /** The condition holds. */
  DONE,
  /** The deadline passed. */
  DEADLINE,
  /** Nothing can happen any more: every agent waits for something that nobody will do. */
  STALLED
}
