package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuAttributes;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.Multicast;
import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkOptions;
import dev.doorbell.ptxvm.engine.machine.ScratchPool;
import dev.doorbell.ptxvm.engine.machine.VmThread.Stepper;
import dev.doorbell.ptxvm.launch.VmLaunch.VmStream;
import dev.doorbell.ptxvm.launch.VmModule.VmKernel;
import dev.doorbell.ptxvm.memory.VmMemory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A GPU on the CPU: it runs PTX, one agent a CUDA thread, over any {@link Fabric}.
 *
 * <p>Device and managed memory lie at its locus, host memory at the CPU of its rank, all in the
 * fabric's address space, so that HCAs and proxies use the same addresses. All methods belong to
 * the host thread that runs the fabric.
 */
public final class VmGpu implements Gpu {
  private static final int MAX_THREADS_PER_BLOCK = 1024;

  private final Fabric fabric;
  private final Locus locus;
  private final VmOptions options;
  private final Set<VmMemory> memories = new LinkedHashSet<>();
  private final Set<VmModule> modules = new LinkedHashSet<>();
  private final Set<VmStream> streams = new LinkedHashSet<>();
  private final List<VmLaunch> launches = new ArrayList<>();
  private final ScratchPool scratch;
  private long launched;
  private @Nullable Stepper stepper;
  private boolean closed;

  /** A GPU with {@link VmOptions#defaults}. */
  public VmGpu(Fabric fabric, Locus locus) {
    this(fabric, locus, VmOptions.defaults());
  }

  /**
   * A GPU in the world of {@code fabric}.
   *
   * @param locus where it is; a GPU's
   */
  public VmGpu(Fabric fabric, Locus locus, VmOptions options) {
    if (locus.part() != Locus.Part.GPU) {
      throw new IllegalArgumentException(locus + " is no place of a GPU");
    }
    this.fabric = fabric;
    this.locus = locus;
    this.options = options;
    this.scratch = new ScratchPool(fabric, locus);
  }

  ScratchPool scratch() {
    return scratch;
  }

  Fabric fabric() {
    return fabric;
  }

  /** Returns how kernels for this GPU are linked. */
  LinkOptions linkOptions() {
    return new LinkOptions(VmOptions.STACK_BYTES, fabric.hasLoadsAhead(), fabric.pipeline(locus));
  }

  VmOptions options() {
    return options;
  }

  /** Lets {@code other} step the threads of the launches that follow. */
  public void stepBy(Stepper other) {
    this.stepper = other;
  }

  @Nullable Stepper stepper() {
    return stepper;
  }

  @Override
  public Locus locus() {
    return locus;
  }

  @Override
  public GpuAttributes attributes() {
    return new GpuAttributes(
        "PTX VM",
        options.computeCapability(),
        VmOptions.MULTIPROCESSORS,
        MAX_THREADS_PER_BLOCK,
        options.maxResidentBlocks(),
        VmOptions.SHARED_BYTES_PER_BLOCK,
        true);
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    requireOpen();
    Locus where =
        switch (kind) {
          case DEVICE, MANAGED -> locus;
          case HOST -> Locus.cpu(locus.rank());
          default ->
              throw new GpuException(
                  "a GPU does not allocate %s memory ('%s'); device, managed or host is possible"
                      .formatted(kind.word(), label));
        };
    Allocation allocation;
    try {
      allocation = fabric.memory().allocate(kind, where, bytes, label);
    } catch (IllegalStateException | IllegalArgumentException e) {
      throw new GpuException(String.valueOf(e.getMessage()), e);
    }
    VmMemory memory =
        new VmMemory(
            fabric.memory(), allocation, allocation.address(), allocation.size(), this::freed);
    memories.add(memory);
    return memory;
  }

  private void freed(VmMemory memory) {
    if (memories.remove(memory)) {
      fabric.memory().free(memory.allocation());
    }
  }

  @Override
  public long mapDeviceRegisters(long hostAddress, long bytes) {
    requireOpen();
    Allocation allocation = fabric.memory().find(hostAddress);
    if (allocation == null || !allocation.contains(hostAddress, bytes)) {
      throw new GpuException(
          "no device registers at 0x%x: %s"
              .formatted(hostAddress, fabric.memory().describe(hostAddress, bytes)));
    }
    return hostAddress;
  }

  @Override
  public Multicast multicast(List<Memory> members, String label) {
    try {
      return new Multicast(fabric.memory(), locus, members, label);
    } catch (IllegalArgumentException e) {
      throw new GpuException(String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public GpuModule load(String name, String ptx) {
    requireOpen();
    VmModule module = VmModule.load(this, name, ptx);
    modules.add(module);
    return module;
  }

  void closed(VmModule module) {
    modules.remove(module);
    scratch.release();
  }

  void requireIdle(VmModule module) {
    for (VmLaunch launch : launches) {
      if (launch.kernel().vmModule() == module) {
        throw new GpuException(
            "%s cannot be unloaded: its kernel %s still runs"
                .formatted(module.name(), launch.kernel().name()));
      }
    }
  }

  @Override
  public Launch launch(
      Kernel kernel, LaunchConfig config, KernelArguments arguments, GpuStream stream) {
    requireOpen();
    if (!(kernel instanceof VmKernel own) || !modules.contains(own.vmModule())) {
      throw new GpuException("kernel %s is not loaded on this GPU".formatted(kernel.name()));
    }
    if (!(stream instanceof VmStream queue) || !streams.contains(queue) || queue.isClosed()) {
      throw new GpuException("the stream is not one of this GPU, or it is closed");
    }
    requirePossible(own, config);
    byte[] block = arguments.layOut(kernel);
    VmLaunch launch = new VmLaunch(this, own, config, block, queue, launched++);
    launches.add(launch);
    queue.add(launch);
    return launch;
  }

  void ended(VmLaunch launch) {
    launches.remove(launch);
  }

  private void requirePossible(VmKernel kernel, LaunchConfig config) {
    config.requirePossible(
        kernel.name(),
        MAX_THREADS_PER_BLOCK,
        kernel.code().image().sharedBytes(),
        VmOptions.SHARED_BYTES_PER_BLOCK);
    long blocks = (long) config.gridX() * config.gridY() * config.gridZ();
    if (blocks > Integer.MAX_VALUE) {
      throw LaunchConfig.impossible(kernel.name(), "%d blocks are too many".formatted(blocks));
    }
    if (config.cooperative() && blocks > options.maxResidentBlocks()) {
      throw LaunchConfig.impossible(
          kernel.name(),
          "a cooperative launch of %d blocks, at most %d run at once"
              .formatted(blocks, options.maxResidentBlocks()));
    }
  }

  @Override
  public GpuStream createStream(GpuStream.Priority priority) {
    requireOpen();
    streams.removeIf(VmStream::isClosed);
    VmStream stream = new VmStream();
    streams.add(stream);
    return stream;
  }

  private void requireOpen() {
    if (closed) {
      throw new GpuException("this GPU is closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      streams.forEach(VmStream::close);
      modules.forEach(VmModule::release);
      modules.clear();
      scratch.release();
      for (VmMemory memory : List.copyOf(memories)) {
        memory.close();
      }
    }
  }
}
