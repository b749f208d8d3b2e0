package dev.doorbell.ptxvm.engine.machine;

import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** An operation at which lanes of a warp converge. */
public abstract class ConvergenceOp extends Op {
  /** Executes all lanes together from here on; null while each lane goes on by itself. */
  public volatile @Nullable CompiledCode compiled;

  /** Completes the operation for {@code members}, which then go on by themselves. */
  public abstract void completeApart(VmThread[] lanes, int members);

  /** True for {@code bar.warp.sync}, of which any two pair. */
  public boolean isBarrier() {
    return false;
  }

  /** The slot of the member mask, or -1 where there is none. */
  public abstract int maskSlot();

  /**
   * Returns true if {@code slot} gets the same value in all lanes, given that all live ones are
   * here.
   *
   * @param uniform which slots hold the same value in all of them
   */
  public abstract boolean writesUniform(int slot, IntPredicate uniform);

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
}
