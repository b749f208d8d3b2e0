package dev.doorbell.core.fabric.explore.litmus;

import dev.doorbell.core.fabric.Access;

/** Where a thread of a litmus test runs, as scopes see it. A CTA is a cluster of its own. */
public record ThreadPlace(int cta, int gpu) {
  /**
   * Whether a thread at {@code other} is inside {@code scope}, an {@link Access} scope, of this.
   */
  public boolean reaches(int scope, ThreadPlace other) {
    return switch (scope) {
      case Access.CTA, Access.CLUSTER -> sameCta(other);
      case Access.GPU -> gpu == other.gpu;
      default -> true;
    };
  }

  public boolean sameCta(ThreadPlace other) {
    return gpu == other.gpu && cta == other.cta;
  }
}
