package dev.doorbell.interop.shim;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a server's devices are like.
 *
 * @param devices their number, 1 to {@link ShimServer#MAX_DEVICES}
 * @param adapter what they promise
 * @param faults what they meet; each device has its own part of it
 * @param capture a new pcapng file for the packets between them, or null
 */
public record ShimOptions(int devices, Adapter adapter, FaultPlan faults, @Nullable Path capture) {
  public ShimOptions {
    if (devices < 1 || devices > ShimServer.MAX_DEVICES) {
      throw new IllegalArgumentException("devices=" + devices);
    }
  }

  /** Devices without faults. */
  public static ShimOptions of(int devices) {
    return new ShimOptions(devices, Adapter.DEFAULT, FaultPlan.NONE, null);
  }
}
