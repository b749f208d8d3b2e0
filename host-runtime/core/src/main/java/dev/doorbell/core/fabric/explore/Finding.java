package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.model.Conflict;
import org.jspecify.annotations.Nullable;

/**
 * A conflict as it came up in a run.
 *
 * @param steps the run's choices until then
 * @param saw what the device read, decoded, or null
 * @param memory what lies at the address, in words
 */
public record Finding(Conflict conflict, long steps, @Nullable String saw, String memory) {}
