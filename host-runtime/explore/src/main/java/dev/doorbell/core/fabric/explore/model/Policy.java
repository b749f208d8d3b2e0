package dev.doorbell.core.fabric.explore.model;

/** The rule that orders a GPU's stores for an HCA. The PTX memory model is silent about devices. */
public enum Policy {
  /** An HCA is ordered by scope sys only, as another host thread would be. */
  STRICT,
  /**
   * The rule of shipping libraries: a release of scope gpu also orders memory that lies in that GPU
   * for an HCA of its machine, whose reads go through the GPU's own caches.
   */
  VENDOR
}
