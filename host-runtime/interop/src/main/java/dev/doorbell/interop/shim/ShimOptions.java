package dev.doorbell.interop.shim;

import dev.doorbell.core.Probe;
import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.shim.gpu.ProgramGpus;
import dev.doorbell.interop.shim.object.DeviceAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Properties of a server's devices.
 *
 * @param devices their number, 1 to {@link ShimServer#MAX_DEVICES}
 * @param addresses of the first devices, one each; every device has one from 127.0.0.1 on as well
 * @param adapter what they promise
 * @param faults what they meet; each device has its own part of it
 * @param capture a new pcapng file for the packets between them, or null
 * @param captured queue pairs whose packets alone are captured; empty for all
 * @param gpus whose memory programs may register, closed with the server; or null
 * @param emulated GPUs of the programs, closed with the server
 */
public record ShimOptions(
    int devices,
    List<DeviceAddress> addresses,
    Adapter adapter,
    FaultPlan faults,
    @Nullable Path capture,
    Set<Integer> captured,
    @Nullable SharedGpus gpus,
    ProgramGpus emulated) {
  public ShimOptions {
    addresses = List.copyOf(addresses);
    captured = Set.copyOf(captured);
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
    this(devices, addresses, adapter, faults, capture, Set.of(), null, ProgramGpus.none());
  }

  /** The same devices, beside emulated GPUs. */
  public ShimOptions withEmulated(ProgramGpus of) {
    return new ShimOptions(devices, addresses, adapter, faults, capture, captured, gpus, of);
  }

  /** The same devices, which reach the memory of GPUs. */
  ShimOptions with(SharedGpus reached) {
    return new ShimOptions(
        devices, addresses, adapter, faults, capture, captured, reached, emulated);
  }

  /** The same devices, of which packets of these queue pairs alone are captured. */
  public ShimOptions withCaptured(Set<Integer> queuePairs) {
    return new ShimOptions(
        devices, addresses, adapter, faults, capture, queuePairs, gpus, emulated);
  }

  /**
   * The same devices, which reach the memory of this machine's GPUs.
   *
   * @param option what the user has asked for
   * @throws EnvironmentException when there are none
   */
  public ShimOptions withGpus(String option) throws EnvironmentException {
    SharedGpus.Provider provider =
        ServiceLoader.load(SharedGpus.Provider.class).findFirst().orElseThrow();
    Probe probe = provider.probe();
    if (!(probe instanceof Probe.Ready)) {
      throw none(option, probe.describe());
    }
    try {
      return with(provider.open());
    } catch (GpuException e) {
      throw none(option, String.valueOf(e.getMessage()));
    }
  }

  /** Devices without faults. */
  public static ShimOptions of(int devices) {
    return new ShimOptions(devices, List.of(), Adapter.DEFAULT, FaultPlan.NONE, null);
  }

  private static EnvironmentException none(String option, String what) {
    return new EnvironmentException(
        Problem.of("DB-E003", option, what).fix("leave it out where programs use no GPU"));
  }
}
