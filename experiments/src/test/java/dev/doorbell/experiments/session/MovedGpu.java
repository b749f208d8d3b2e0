package dev.doorbell.experiments.session;

import dev.doorbell.core.fabric.DirectFabric;
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
import dev.doorbell.cuda.KernelMover;
import dev.doorbell.ptxvm.launch.VmGpu;
import java.lang.foreign.MemorySegment;

/** A virtual machine whose memory devices reach only by a mover kernel, as that of a real GPU. */
final class MovedGpu implements Gpu {
  private static final int THREADS = 64;
  private static final int STAGING_BYTES = 8 << 20;

  private final DirectFabric fabric;
  private final VmGpu gpu;
  private final KernelMover mover;

  MovedGpu(DirectFabric fabric, Locus locus, long idleNanos) {
    this.fabric = fabric;
    this.gpu = new VmGpu(fabric, locus);
    this.mover = new KernelMover(gpu, THREADS, STAGING_BYTES, idleNanos);
    fabric.reach(mover);
  }

  KernelMover mover() {
    return mover;
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    Memory memory = gpu.allocate(kind, bytes, label);
    if (kind == MemoryKind.DEVICE) {
      mover.add(memory.address(), bytes);
    }
    return memory;
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
  public Memory registerHost(MemorySegment range, String label) {
    return gpu.registerHost(range, label);
  }

  @Override
  public long mapDeviceRegisters(long hostAddress, long bytes) {
    return gpu.mapDeviceRegisters(hostAddress, bytes);
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
  public GpuStream createStream() {
    return gpu.createStream();
  }

  @Override
  public void close() {
    fabric.forget(mover);
    mover.close();
    gpu.close();
  }
}
