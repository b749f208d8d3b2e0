package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuAttributes;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.Multicast;
import java.util.List;

/**
 * A GPU that leaves everything to another; who stands between a session and its GPU overrides what
 * he changes.
 */
public abstract class ForwardingGpu implements Gpu {
  private final Gpu gpu;

  /**
   * @param gpu what it forwards to, and closes
   */
  protected ForwardingGpu(Gpu gpu) {
    this.gpu = gpu;
  }

  @Override
  public Locus locus() {
    return gpu.locus();
  }

  @Override
  public GpuAttributes attributes() {
    return gpu.attributes();
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    return gpu.allocate(kind, bytes, label);
  }

  @Override
  public long mapDeviceRegisters(long hostAddress, long bytes) {
    return gpu.mapDeviceRegisters(hostAddress, bytes);
  }

  @Override
  public void unmapDeviceRegisters(long hostAddress) {
    gpu.unmapDeviceRegisters(hostAddress);
  }

  @Override
  public Multicast multicast(List<Memory> members, String label) {
    return gpu.multicast(members, label);
  }

  @Override
  public GpuModule load(String name, String ptx) {
    return gpu.load(name, ptx);
  }

  @Override
  public Launch launch(
      Kernel kernel, LaunchConfig config, KernelArguments arguments, GpuStream stream) {
    return gpu.launch(kernel, config, arguments, stream);
  }

  @Override
  public GpuStream createStream(GpuStream.Priority priority) {
    return gpu.createStream(priority);
  }

  @Override
  public void close() {
    gpu.close();
  }
}
