package dev.doorbell.core.fabric.timed;

/**
 * One constant of a topology with its origin: what makes a modelled number checkable.
 *
 * @param key where it stands in the topology, for example {@code gpu0.fence_ns}
 * @param value its value, in the unit that the key's suffix names
 * @param source {@code measured here: ...}, {@code cited: ...} or {@code assumed: ...}
 */
public record Constant(String key, String value, String source) {}
