package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.model.Cell.Write;
import dev.doorbell.core.fabric.explore.model.Region;
import org.jspecify.annotations.Nullable;

/**
 * The place of a device's access.
 *
 * @param region that it read; null for payload and for writes
 * @param post the store of the WQE that it is for; null where none was stored to a ring
 */
public record DeviceAccess(@Nullable Region region, @Nullable Write post) {}
