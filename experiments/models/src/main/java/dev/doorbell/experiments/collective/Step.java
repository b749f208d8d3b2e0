package dev.doorbell.experiments.collective;

import org.jspecify.annotations.Nullable;

/**
 * One step of a rank: wait for a message, copy or reduce, send one; in this order, each or none.
 *
 * @param awaited message, or null
 * @param combine what happens to it
 * @param target where the result goes
 * @param first the only operand of a copy that waits for nothing packed, or the first of two
 * @param second the other operand: where the message is
 * @param bytes that are combined
 * @param sent message, or null
 * @param source of what is sent
 * @param packed where it is packed
 */
public record Step(
    @Nullable Message awaited,
    Combine combine,
    long target,
    long first,
    long second,
    long bytes,
    @Nullable Message sent,
    long source,
    long packed) {
  /** Operation of a step on data. */
  public enum Combine {
    NONE,
    COPY,
    REDUCE,
    /** The NVSwitch reads from all ranks of the node, and writes to all of them. */
    SWITCH
  }
}
