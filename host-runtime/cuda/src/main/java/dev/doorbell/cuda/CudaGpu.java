package dev.doorbell.cuda;

import dev.doorbell.core.Probe;
import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuAttributes;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.cuda.CudaLaunch.CudaStream;
import dev.doorbell.cuda.CudaModule.CudaKernel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmemAttach_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * A real GPU in a world whose HCAs and proxies are software.
 *
 * <p>Host memory is allocated in the fabric's address space and pinned there, so that kernels, HCAs
 * and proxies use the same addresses. Device and managed memory lie outside of it: software HCAs
 * access them through a {@link Mover}, if the GPU was opened with one. A doorbell page of a
 * software HCA has a window in host memory, which is polled while the fabric runs; registers of
 * real devices are mapped.
 *
 * <p>Allocate and load before launching: while a kernel runs, the driver makes some of these calls
 * wait for it. All methods belong to the host thread that runs the fabric.
 */
public final class CudaGpu implements Gpu {
  private static final int MOVER_THREADS = 1024;
  private static final int MOVER_STAGING_BYTES = 16 << 20;
  private static final long MOVER_IDLE_NANOS = 1_000_000;

  /** More dynamic shared memory than this must be enabled for a kernel. */
  private static final int DEFAULT_SHARED_LIMIT = 48 << 10;

  /** Access of software devices to memory of the GPU. */
  public enum Mover {
    /** Not at all. */
    NONE,
    /** Copies by the GPU's copy engines. */
    COPY,
    /** Copies by a kernel that occupies one multiprocessor while there is something to move. */
    KERNEL
  }

  private final DirectFabric fabric;
  private final Locus locus;
  private final CudaContext context;
  private final GpuAttributes attributes;
  private final int newestPtx;
  private final Set<CudaMemory> memories = new LinkedHashSet<>();
  private final Set<CudaModule> modules = new LinkedHashSet<>();
  private final List<CudaStream> streams = new ArrayList<>();

  private final PinnedPages pinned;
  private final MappedRegisters registers;
  private @Nullable DoorbellWindows windows;
  private @Nullable StagedMover mover;
  private boolean closed;

  /**
   * Opens a device.
   *
   * @param locus place in the topology; a GPU's
   * @param ordinal CUDA's number of the device
   * @throws GpuException when there is no driver or no such device; the message is the probe's
   */
  public CudaGpu(DirectFabric fabric, Locus locus, int ordinal) {
    this(fabric, locus, ordinal, Mover.NONE);
  }

  /**
   * Opens a device whose memory is accessible to devices that are attached to the fabric
   * afterwards.
   *
   * @param by how they access it
   */
  public CudaGpu(DirectFabric fabric, Locus locus, int ordinal, Mover by) {
    this(fabric, locus, ordinal, by, PinnedPages.NONE);
  }

  /**
   * Opens a device beside another driver that uses the same pages.
   *
   * @param pinned notified before host memory is pinned
   */
  @SuppressWarnings("this-escape") // a mover allocates from this GPU
  public CudaGpu(DirectFabric fabric, Locus locus, int ordinal, Mover by, PinnedPages pinned) {
    if (locus.part() != Locus.Part.GPU) {
      throw new IllegalArgumentException(locus + " is no place of a GPU");
    }
    Probe probe = CudaProbe.probe();
    if (!(probe instanceof Probe.Ready ready)) {
      throw new GpuException("no CUDA GPU: " + probe.describe());
    }
    if (ordinal < 0 || ordinal >= ready.devices().size()) {
      throw new GpuException("no CUDA GPU %d; there is %s".formatted(ordinal, ready.describe()));
    }
    this.fabric = fabric;
    this.locus = locus;
    this.pinned = pinned;
    this.context = CudaContext.retain(ordinal);
    this.registers = new MappedRegisters(context);
    this.attributes = ask(ready.devices().get(ordinal));
    int[] version = new int[1];
    context.call("asking for the driver's version", () -> JCudaDriver.cuDriverGetVersion(version));
    this.newestPtx = PtxLowering.newest(version[0]);
    this.mover =
        switch (by) {
          case NONE -> null;
          case COPY ->
              new CopyMover(context, allocate(MemoryKind.HOST, CopyMover.MEMORY_BYTES, "mover"));
          case KERNEL ->
              new KernelMover(this, MOVER_THREADS, MOVER_STAGING_BYTES, MOVER_IDLE_NANOS);
        };
    if (mover != null) {
      fabric.reach(mover);
    }
  }

  private GpuAttributes ask(String name) {
    int processors = context.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return new GpuAttributes(
        name,
        10 * context.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            + context.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        processors,
        context.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        processors
            * context.attribute(
                CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
        context.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        false);
  }

  @Override
  public Locus locus() {
    return locus;
  }

  @Override
  public GpuAttributes attributes() {
    return attributes;
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    requireUsable();
    CudaMemory memory =
        switch (kind) {
          case DEVICE, MANAGED -> allocateOnDevice(kind, bytes, label);
          case HOST -> allocateOnHost(bytes, label);
          default ->
              throw new GpuException(
                  "a GPU does not allocate %s memory ('%s'); device, managed or host is possible"
                      .formatted(kind.word(), label));
        };
    memories.add(memory);
    return memory;
  }

  private CudaMemory allocateOnDevice(MemoryKind kind, long bytes, String label) {
    if (bytes <= 0) {
      throw new GpuException("bytes=" + bytes + " for '" + label + "'");
    }
    String what = "allocating %d bytes of %s memory for '%s'".formatted(bytes, kind.word(), label);
    // The driver aligns to 512 bytes; the contract requires pages of 4096, which can be exported.
    long room = pages(bytes) + AddressSpace.PAGE;
    CudaContext.Address start = new CudaContext.Address();
    context.call(
        what,
        () ->
            kind == MemoryKind.DEVICE
                ? JCudaDriver.cuMemAlloc(start, room)
                : JCudaDriver.cuMemAllocManaged(
                    start, room, CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL));
    long address = start.value() + AddressSpace.PAGE - 1 & -AddressSpace.PAGE;
    context.fill(what, address, bytes, (byte) 0);
    StagedMover by = mover;
    if (by != null) {
      by.add(address, bytes, kind == MemoryKind.MANAGED);
    }
    return new CudaMemory(
        context,
        kind,
        locus,
        label,
        address,
        CudaMemory.NOT_MAPPED,
        bytes,
        memory -> freed(memory, () -> JCudaDriver.cuMemFree(start)));
  }

  private static long pages(long bytes) {
    return bytes + AddressSpace.PAGE - 1 & -AddressSpace.PAGE;
  }

  private CudaMemory allocateOnHost(long bytes, String label) {
    Allocation allocation = reserve(bytes, label);
    boolean notified = false;
    try {
      pinned.willPin(allocation.address(), pages(bytes));
      notified = true;
      long device = context.pin(allocation.address(), bytes, CudaContext.PORTABLE_MAPPED, label);
      return new CudaMemory(
          context,
          MemoryKind.HOST,
          allocation.locus(),
          label,
          device,
          allocation.address(),
          bytes,
          memory -> {
            unpinned(memory);
            pinned.unpinned(allocation.address(), pages(bytes));
            fabric.memory().free(allocation);
          });
    } catch (RuntimeException e) {
      if (notified) {
        pinned.unpinned(allocation.address(), pages(bytes));
      }
      fabric.memory().free(allocation);
      throw e;
    }
  }

  private Allocation reserve(long bytes, String label) {
    try {
      return fabric.memory().allocate(MemoryKind.HOST, Locus.cpu(locus.rank()), bytes, label);
    } catch (IllegalStateException | IllegalArgumentException e) {
      throw new GpuException(String.valueOf(e.getMessage()), e);
    }
  }

  private void unpinned(CudaMemory memory) {
    freed(memory, () -> JCudaDriver.cuMemHostUnregister(CudaContext.host(memory.hostAddress())));
  }

  /**
   * Frees memory, unless an abandoned kernel still runs, for which the call would wait for ever.
   */
  private void freed(CudaMemory memory, CudaContext.Call free) {
    memories.remove(memory);
    StagedMover by = mover;
    if (by != null) {
      by.remove(memory.address());
    }
    if (context.settled()) {
      int code = context.ask(free);
      if (code != CudaErrors.SUCCESS && !CudaErrors.isFatal(code)) {
        throw context.failed("freeing " + memory, code);
      }
    }
  }

  /**
   * A doorbell page of a software HCA gets a window. On-chip memory of a software HCA, which is
   * host memory, is pinned. Any other address is mapped as registers of a real device.
   */
  @Override
  public long mapDeviceRegisters(long hostAddress, long bytes) {
    requireUsable();
    Allocation page = fabric.memory().find(hostAddress);
    return page == null || page.kind() == MemoryKind.NIC
        ? registers.map(page, hostAddress, bytes)
        : openWindow(page, hostAddress, bytes);
  }

  @Override
  public void unmapDeviceRegisters(long hostAddress) {
    if (fabric.memory().find(hostAddress) == null) {
      registers.unmap(hostAddress);
    }
  }

  private long openWindow(Allocation page, long hostAddress, long bytes) {
    if (!page.contains(hostAddress, bytes)) {
      throw new GpuException(
          "no device registers at 0x%x: %s"
              .formatted(hostAddress, fabric.memory().describe(hostAddress, bytes)));
    }
    if (bytes > AddressSpace.PAGE) {
      throw new GpuException(
          "a GPU cannot store to '%s' (%d bytes): only doorbells are relayed"
              .formatted(page.label(), bytes));
    }
    CudaMemory window = allocateOnHost(AddressSpace.PAGE, "doorbell window");
    memories.add(window);
    DoorbellWindows all = windows;
    if (all == null) {
      all = new DoorbellWindows(fabric, Locus.cpu(locus.rank()));
      windows = all;
    }
    long offset = hostAddress & AddressSpace.PAGE - 1;
    long host = window.hostAddress() + offset;
    all.add(host, hostAddress);
    if (bytes >= 2 * Long.BYTES) {
      // Two BlueFlame halves.
      all.add(host + bytes / 2, hostAddress + bytes / 2);
    }
    return window.address() + offset;
  }

  @Override
  public GpuModule load(String name, String ptx) {
    requireUsable();
    if (PtxFiles.areJoined(ptx)) {
      throw new GpuException(
          "%s has several PTX files, which only the PTX VM links".formatted(name));
    }
    CudaModule module =
        CudaModule.load(this::unload, locus, context, name, PtxLowering.lower(ptx, newestPtx));
    modules.add(module);
    return module;
  }

  private void unload(GpuModule module) {
    for (CudaStream stream : streams) {
      String kernel = stream.runningKernel(module);
      if (kernel != null) {
        throw new GpuException(
            "%s cannot be unloaded: its kernel %s still runs".formatted(module.name(), kernel));
      }
    }
    modules.remove(module);
  }

  @Override
  public Launch launch(
      Kernel kernel, LaunchConfig config, KernelArguments arguments, GpuStream stream) {
    requireUsable();
    if (!(kernel instanceof CudaKernel own) || !modules.contains(own.module())) {
      throw new GpuException("kernel %s is not loaded on this GPU".formatted(kernel.name()));
    }
    if (!(stream instanceof CudaStream queue) || !streams.contains(queue) || queue.isClosed()) {
      throw new GpuException("the stream is not one of this GPU, or it is closed");
    }
    byte[] block = arguments.layOut(own);
    requirePossible(own, config);
    CudaLaunch launch = new CudaLaunch(context, own, queue.handle(), config.timeoutNanos());
    launch.start(config, block);
    queue.add(launch);
    return launch;
  }

  /** Refuses what is beyond the GPU's limits: the driver only reports "invalid value". */
  private void requirePossible(CudaKernel kernel, LaunchConfig config) {
    config.requirePossible(
        kernel.name(),
        attributes.maxThreadsPerBlock(),
        kernel.sharedBytes(),
        attributes.sharedBytesPerBlock());
    if (config.dynamicSharedBytes() > DEFAULT_SHARED_LIMIT) {
      context.call(
          "allowing kernel %s %d bytes of shared memory"
              .formatted(kernel.name(), config.dynamicSharedBytes()),
          () ->
              JCudaDriver.cuFuncSetAttribute(
                  kernel.function(),
                  CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  config.dynamicSharedBytes()));
    }
    if (config.cooperative()) {
      requireResident(kernel, config);
    }
  }

  private void requireResident(CudaKernel kernel, LaunchConfig config) {
    int[] perProcessor = new int[1];
    context.call(
        "querying how many blocks of kernel %s run at once".formatted(kernel.name()),
        () ->
            JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                perProcessor,
                kernel.function(),
                config.threadsPerBlock(),
                config.dynamicSharedBytes()));
    long blocks = (long) config.gridX() * config.gridY() * config.gridZ();
    long resident = (long) perProcessor[0] * attributes.multiprocessors();
    if (blocks > resident) {
      throw LaunchConfig.impossible(
          kernel.name(),
          "a cooperative launch of %d blocks, at most %d run at once".formatted(blocks, resident));
    }
  }

  @Override
  public GpuStream createStream(GpuStream.Priority priority) {
    requireUsable();
    streams.removeIf(CudaStream::isClosed);
    CudaStream stream = new CudaStream(context, priority);
    streams.add(stream);
    return stream;
  }

  /**
   * Lets kernels of this GPU access device memory of another one, over NVLink or PCIe, at the same
   * addresses. The peer may be the same device.
   *
   * @throws GpuException if neither NVLink nor PCIe connects them
   */
  public void reachPeer(CudaGpu peer) {
    requireUsable();
    peer.requireUsable();
    if (!peer.context.equals(context)) {
      context.reach(peer.context);
    }
  }

  /**
   * Copies all of one memory of this GPU to another by its copy engine, again and again: device
   * memory to pinned memory of the host, or back.
   *
   * @param to at least as long
   * @param times copies, given to a stream at once; they run one behind the other
   * @return nanoseconds from before the first copy to behind the last, by the device's clock
   */
  public double copyNanos(Memory from, Memory to, int times) {
    requireUsable();
    if (!(from instanceof CudaMemory source) || !(to instanceof CudaMemory target)) {
      throw new GpuException(
          "no copy from %s to %s: not both are of a real GPU".formatted(from, to));
    }
    return source.copyNanos(target, times);
  }

  private void requireUsable() {
    if (closed) {
      throw new GpuException("this GPU is closed");
    }
    context.requireUsable();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (windows != null) {
      windows.close();
    }
    StagedMover by = mover;
    if (by != null) {
      mover = null;
      fabric.forget(by);
      by.close();
    }
    streams.forEach(CudaStream::close);
    if (context.settled()) {
      modules.forEach(CudaModule::release);
      registers.close();
    }
    modules.clear();
    for (CudaMemory memory : List.copyOf(memories)) {
      memory.close();
    }
    context.release();
  }

  /**
   * Notified of host memory that a GPU pins. Pinned pages must not move, so that an implementation
   * that replaces pages does it in {@link #willPin}.
   */
  public interface PinnedPages {
    /** Does nothing. */
    PinnedPages NONE =
        new PinnedPages() {
          @Override
          public void willPin(long address, long bytes) {}

          @Override
          public void unpinned(long address, long bytes) {}
        };

    /** Called before whole pages are pinned; their contents must be kept. */
    void willPin(long address, long bytes);

    /** Called after the same pages were unpinned, before they are freed. */
    void unpinned(long address, long bytes);
  }
}
