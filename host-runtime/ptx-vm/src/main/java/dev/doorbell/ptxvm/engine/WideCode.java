package dev.doorbell.ptxvm.engine;

/**
 * Code for all lanes of a warp at once; generated classes extend it.
 *
 * <p>What differs from lane to lane is in {@link WideWarp#columns}, what all have in common in
 * {@link WideWarp#uniforms}. The code is a number of chunks, each of which begins where lanes may
 * come in, come together or be interrupted.
 */
abstract class WideCode {
  /** What {@link #run} returns when each lane goes on by itself. */
  static final int LEFT = -1;

  /** Values of lanes in a column. */
  static final int COLUMN = Warp.SIZE;

  /**
   * A place where values go from the lanes' register files to the warp's or back.
   *
   * @param op what a lane executes next that goes on by itself
   * @param slots in the register file
   * @param homes where each is in the warp: the first of a column, or the complement of the index
   *     of a common value
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
  record Crossing(Op op, int[] slots, int[] homes) {}

  Crossing[] crossings = {};
  int columns;
  int uniforms;

  /** Doors at which an interrupted warp waits for its next step, by chunk. */
  WideDoor[] doors = {};

  /** How often lanes came with different values that the code takes for common. */
  int strangers;

  /**
   * Goes on at a chunk.
   *
   * @return {@link #LEFT}, or the complement of {@link #interruptedAt} when it was interrupted
   */
  abstract int run(WideWarp warp, VmThread leader, int chunk);

  /** What a part of the code returns that was interrupted at a chunk; and back. */
  static int interruptedAt(int chunk) {
    return -2 - chunk;
  }
}
