package dev.doorbell.ptxjit.warp;

import dev.doorbell.ptxjit.warp.CompiledWarp.WarpEntry;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.Warp;

/**
 * Code for all lanes of a warp at once; generated classes extend it.
 *
 * <p>What differs from lane to lane is in {@link CompiledWarp#columns}, what all have in common in
 * {@link CompiledWarp#uniforms}. The code is a number of chunks, each of which begins where lanes
 * may come in, come together or be interrupted.
 */
abstract class WarpCode {
  /** What {@link #run} returns when each lane goes on by itself. */
  static final int LEFT = -1;

  /** Values of lanes in a column. */
  static final int COLUMN = Warp.SIZE;

  /**
   * A place where values go from the lanes' register files to the warp's or back.
   *
   * @param op what a lane executes next that goes on by itself
   * @param slots in the register file
   * @param locations where each is in the warp: the first of a column, or the complement of the
   *     index of a common value
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
  record Crossing(Op op, int[] slots, int[] locations) {}

  Crossing[] crossings = {};
  int columns;
  int uniforms;

  /** Entries at which an interrupted warp waits for its next step, by chunk. */
  WarpEntry[] entries = {};

  /** How often lanes came with different values that the code takes for common. */
  int mismatches;

  /**
   * Goes on at a chunk.
   *
   * @return {@link #LEFT}, or the complement of {@link #interruptedAt} when it was interrupted
   */
  abstract int run(CompiledWarp warp, VmThread leader, int chunk);

  /** What a part of the code returns that was interrupted at a chunk; and back. */
  static int interruptedAt(int chunk) {
    return -2 - chunk;
  }
}
