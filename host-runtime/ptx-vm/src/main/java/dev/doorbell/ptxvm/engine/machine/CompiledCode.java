package dev.doorbell.ptxvm.engine.machine;

import org.jspecify.annotations.Nullable;

/** Compiled code that executes all lanes of a warp together from where they converged. */
public interface CompiledCode {
  /**
   * All living lanes of a warp have converged.
   *
   * @param last the lane that arrived last; it executes for all lanes if they go on together
   * @param members the living lanes
   * @return where the warp goes on, or null when each lane goes on by itself
   */
  @Nullable Op enter(Warp warp, VmThread last, ConvergenceOp op, int members);
}
