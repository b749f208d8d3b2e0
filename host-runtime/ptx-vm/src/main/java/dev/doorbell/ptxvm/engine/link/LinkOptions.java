package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.core.fabric.Fabric.Pipeline;

/**
 * What linking depends on beside the text.
 *
 * @param stackBytes local memory for the frames of recursive functions
 * @param loadsAhead whether loads may be under way while their thread goes on
 * @param blocksAfter executions after which a run of operations that only compute becomes code of
 *     its own, where loads go ahead; {@link Integer#MAX_VALUE}: never
 * @param pipeline how instructions of a thread follow each other
 */
public record LinkOptions(long stackBytes, boolean loadsAhead, int blocksAfter, Pipeline pipeline) {
  /** The same where every operation is interpreted. */
  public static LinkOptions interpreted(long stackBytes, boolean loadsAhead) {
    return new LinkOptions(stackBytes, loadsAhead, Integer.MAX_VALUE, Pipeline.NONE);
  }

  boolean hasBlocks() {
    return loadsAhead && blocksAfter < Integer.MAX_VALUE;
  }
}
