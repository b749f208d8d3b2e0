package dev.doorbell.ptxjit.warp;

import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import org.jspecify.annotations.Nullable;

/**
 * Where a warp goes on with all its lanes together: at an operation where they met, or where it was
 * interrupted. One lane executes it for all; the others wait meanwhile.
 */
final class WarpEntry extends Op {
  final WarpCode code;
  final int chunk;

  /** The operation where the lanes met, which is still to be done; null where interrupted. */
  final @Nullable ConvergenceOp convergence;

  /** What the lanes bring along; used with {@link #convergence} only. */
  final int crossing;

  WarpEntry(
      WarpCode code, int chunk, @Nullable ConvergenceOp convergence, int crossing, int place) {
    this.code = code;
    this.chunk = chunk;
    this.convergence = convergence;
    this.crossing = crossing;
    this.place = place;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    return CompiledWarp.of(t.warp).step(this);
  }
}
