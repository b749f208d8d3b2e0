package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.OptionalInt;
import java.util.function.Consumer;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * Memory that kernels can address. The host accesses pinned memory at its host address and
 * everything else by copies, which wait for no kernel.
 */
final class CudaMemory implements Memory {
  static final long NOT_MAPPED = 0;

  /** CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD. */
  private static final int DMA_BUF = 1;

  private final CudaContext context;
  private final MemoryKind kind;
  private final Locus locus;
  private final String label;
  private final long address;
  private final long hostAddress;
  private final long size;
  private final Consumer<CudaMemory> onClose;
  private boolean closed;

  /**
   * Memory of a GPU or pinned memory of the host.
   *
   * @param address for kernels
   * @param hostAddress for the host; {@link #NOT_MAPPED} where the host accesses it by copies
   */
  CudaMemory(
      CudaContext context,
      MemoryKind kind,
      Locus locus,
      String label,
      long address,
      long hostAddress,
      long size,
      Consumer<CudaMemory> onClose) {
    this.context = context;
    this.kind = kind;
    this.locus = locus;
    this.label = label;
    this.address = address;
    this.hostAddress = hostAddress;
    this.size = size;
    this.onClose = onClose;
  }

  @Override
  public MemoryKind kind() {
    return kind;
  }

  @Override
  public long address() {
    return address;
  }

  /** Address for the host; of pinned memory only. */
  long hostAddress() {
    return hostAddress;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public void write(long offset, MemorySegment source) {
    check("write by the host", offset, source.byteSize());
    if (hostAddress != NOT_MAPPED) {
      RawMemory.copyIn(source, 0, hostAddress + offset, source.byteSize());
    } else {
      context.copyIn("writing to " + this, source, address + offset);
    }
  }

  @Override
  public void read(long offset, MemorySegment target) {
    check("read by the host", offset, target.byteSize());
    if (hostAddress != NOT_MAPPED) {
      RawMemory.copyOut(hostAddress + offset, target, 0, target.byteSize());
    } else {
      context.copyOut("reading " + this, address + offset, target);
    }
  }

  @Override
  public void fill(long offset, long bytes, byte value) {
    check("fill by the host", offset, bytes);
    if (bytes == 0) {
      return;
    }
    if (hostAddress != NOT_MAPPED) {
      RawMemory.fill(hostAddress + offset, bytes, value);
    } else {
      context.fill("filling " + this, address + offset, bytes, value);
    }
  }

  /**
   * Exports as the contract says, in whole pages of 4096 bytes; the rest of the last page is
   * unused. Empty if the driver or the Linux kernel cannot export.
   */
  @Override
  public OptionalInt exportDmaBuf() {
    if (closed || kind != MemoryKind.DEVICE || !context.exportsDmaBufs()) {
      return OptionalInt.empty();
    }
    long pages = size + AddressSpace.PAGE - 1 & -AddressSpace.PAGE;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
      DriverFunctions driver = new DriverFunctions(CudaProbe.LIBRARY);
      int code =
          context.ask(
              () ->
                  driver.call(
                      "cuMemGetHandleForAddressRange", out.address(), address, pages, DMA_BUF, 0L));
      return code == CudaErrors.SUCCESS
          ? OptionalInt.of(out.get(ValueLayout.JAVA_INT, 0))
          : OptionalInt.empty();
    }
  }

  private void check(String what, long offset, long bytes) {
    if (closed) {
      throw new IllegalStateException("%s of '%s' after it was closed".formatted(what, label));
    }
    if (offset < 0 || bytes < 0 || bytes > size - offset) {
      throw new AccessFault(
          what, address + offset, bytes, "it is not inside of %s".formatted(this));
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      onClose.accept(this);
    }
  }

  @Override
  public String toString() {
    return "'%s' (%s memory of %s, %d bytes at 0x%x)"
        .formatted(label, kind.word(), locus, size, address);
  }

  /**
   * Copies all of it to another memory by the device's copy engine, several times: the copies are
   * queued in one stream and run one after the other.
   *
   * @param to at least as long; one of the two is device memory, the other pinned
   * @return nanoseconds from before the first copy to behind the last, by the device's clock
   * @throws GpuException when both lie on one side
   */
  double copyNanos(CudaMemory to, int times) {
    boolean in = kind == MemoryKind.HOST && to.kind() == MemoryKind.DEVICE;
    boolean out = kind == MemoryKind.DEVICE && to.kind() == MemoryKind.HOST;
    if (in == out || size > to.size) {
      throw new GpuException(
          "no copy from %s to %s: one is device memory, the other pinned, and all has to fit"
              .formatted(this, to));
    }
    String what = "copying %d times from %s to %s".formatted(times, this, to);
    CUstream stream = new CUstream();
    CUevent begin = new CUevent();
    CUevent end = new CUevent();
    context.call(
        what, () -> JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
    try {
      context.call(what, () -> JCudaDriver.cuEventCreate(begin, CUevent_flags.CU_EVENT_DEFAULT));
      context.call(what, () -> JCudaDriver.cuEventCreate(end, CUevent_flags.CU_EVENT_DEFAULT));
      context.call(what, () -> JCudaDriver.cuEventRecord(begin, stream));
      for (int i = 0; i < times; i++) {
        context.call(what, () -> in ? in(to, stream) : out(to, stream));
      }
      context.call(what, () -> JCudaDriver.cuEventRecord(end, stream));
      context.call(what, () -> JCudaDriver.cuStreamSynchronize(stream));
      float[] millis = new float[1];
      context.call(what, () -> JCudaDriver.cuEventElapsedTime(millis, begin, end));
      return millis[0] * 1e6;
    } finally {
      // Results are ignored: a failure above is reported, and a handle may not exist.
      context.ask(() -> JCudaDriver.cuEventDestroy(begin));
      context.ask(() -> JCudaDriver.cuEventDestroy(end));
      context.ask(() -> JCudaDriver.cuStreamDestroy(stream));
    }
  }

  private int in(CudaMemory to, CUstream stream) {
    return JCudaDriver.cuMemcpyHtoDAsync(
        CudaContext.at(to.address), CudaContext.host(hostAddress), size, stream);
  }

  private int out(CudaMemory to, CUstream stream) {
    return JCudaDriver.cuMemcpyDtoHAsync(
        CudaContext.host(to.hostAddress), CudaContext.at(address), size, stream);
  }
}
