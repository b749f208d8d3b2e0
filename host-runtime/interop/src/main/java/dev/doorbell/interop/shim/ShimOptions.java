package dev.doorbell.interop.shim;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.shim.object.DeviceAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a server's devices are like.
 *
 * @param devices their number, 1 to {@link ShimServer#MAX_DEVICES}
 * @param addresses of the first devices, one each; every device has one from 127.0.0.1 on as well
 * @param adapter what they promise
 * @param faults what they meet; each device has its own part of it
 * @param capture a new pcapng file for the packets between them, or null
 * @param gpus whose memory programs may register, closed with the server; or null
 */
public record ShimOptions(
    int devices,
    List<DeviceAddress> addresses,
    Adapter adapter,
    FaultPlan faults,
    @Nullable Path capture,
    @Nullable SharedGpus gpus) {
  public ShimOptions {
    addresses = List.copyOf(addresses);
    if (devices < 1 || devices > ShimServer.MAX_DEVICES || addresses.size() > devices) {
      throw new IllegalArgumentException("devices=%d, %s".formatted(devices, addresses));
    }
  }

  /** Devices that reach no memory of GPUs. */
  public ShimOptions(
      int devices,
      List<DeviceAddress> addresses,
      Adapter adapter,
      FaultPlan faults,
      @Nullable Path capture) {
    this(devices, addresses, adapter, faults, capture, null);
  }

  /** The same devices, which reach the memory of GPUs. */
  ShimOptions with(SharedGpus reached) {
    return new ShimOptions(devices, addresses, adapter, faults, capture, reached);
  }

  /**
   * The same devices, which reach the memory of this machine's GPUs.
   *
   * @param option what the user has asked for
   * @throws EnvironmentException when there are none
   */
  public ShimOptions withGpus(String option) throws EnvironmentException {
    return with(SharedGpuService.open(option));
  }

  /** Devices without faults. */
  public static ShimOptions of(int devices) {
    return new ShimOptions(devices, List.of(), Adapter.DEFAULT, FaultPlan.NONE, null);
  }
}
