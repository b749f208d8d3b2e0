package dev.doorbell.experiments.scenario.kind;

/** Who posts a message together: the values of {@code scope}. */
public enum Scope {
  THREAD,
  WARP,
  BLOCK
}
