package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;

/**
 * Where an actor stands, as scopes see it.
 *
 * @param rank its machine
 * @param gpu the GPU of that machine, from 0; or {@link #NO_GPU} or {@link #DEVICE}
 * @param block its CTA among all of the world, or anything outside a GPU
 */
public record ScopeLocation(int rank, int gpu, long block) {
  /** On no GPU: the CPU. */
  public static final int NO_GPU = -1;

  /** On no GPU: a device. */
  public static final int DEVICE = -2;

  /** A thread of a GPU. */
  public static ScopeLocation thread(int rank, int gpu, long block) {
    return new ScopeLocation(rank, gpu, block);
  }

  /** The CPU of {@code rank}. */
  public static ScopeLocation host(int rank) {
    return new ScopeLocation(rank, NO_GPU, 0);
  }

  /** A device of {@code rank}. */
  public static ScopeLocation device(int rank) {
    return new ScopeLocation(rank, DEVICE, 0);
  }

  /** The narrowest {@link Access} scope that holds both. */
  public int scopeWith(ScopeLocation other) {
    if (gpu < 0 || rank != other.rank || gpu != other.gpu) {
      return Access.SYS;
    }
    return block == other.block ? Access.CTA : Access.GPU;
  }

  /**
   * As {@link #scopeWith}, for memory that lies in a GPU, in the reading of {@link Policy#VENDOR}.
   */
  int residentScopeWith(ScopeLocation other) {
    boolean deviceAndThread =
        rank == other.rank
            && ((gpu == DEVICE && other.gpu >= 0) || (gpu >= 0 && other.gpu == DEVICE));
    return deviceAndThread ? Access.GPU : scopeWith(other);
  }
}
