package dev.doorbell.cuda;

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

/**
 * Memory that kernels can address. The host accesses pinned memory at its host address and
 * everything else by copies, which wait for no kernel.
 */
final class CudaMemory implements Memory {
  private static final long NOT_MAPPED = 0;

  private final CudaContext context;
  private final MemoryKind kind;
  private final Locus locus;
  private final String label;
  private final long address;
  private final long hostAddress;
  private final long size;
  private final Consumer<CudaMemory> onClose;
  private boolean closed;

  private CudaMemory(
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

  /** Memory that the host accesses by copies. */
  static CudaMemory onDevice(
      CudaContext context,
      MemoryKind kind,
      Locus locus,
      String label,
      long address,
      long size,
      Consumer<CudaMemory> onClose) {
    return new CudaMemory(context, kind, locus, label, address, NOT_MAPPED, size, onClose);
  }

  /**
   * Pinned memory of the host.
   *
   * @param address for kernels
   * @param hostAddress for the host
   */
  static CudaMemory onHost(
      CudaContext context,
      Locus locus,
      String label,
      long address,
      long hostAddress,
      long size,
      Consumer<CudaMemory> onClose) {
    return new CudaMemory(
        context, MemoryKind.HOST, locus, label, address, hostAddress, size, onClose);
  }

  @Override
  public MemoryKind kind() {
    return kind;
  }

  @Override
  public Locus locus() {
    return locus;
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
   * As the contract says, in whole pages of 4096 bytes; the rest of the last page is unused. Empty
   * if the driver or the Linux kernel cannot export.
   */
  @Override
  public OptionalInt exportDmaBuf() {
    if (closed || kind != MemoryKind.DEVICE || !context.exportsDmaBufs()) {
      return OptionalInt.empty();
    }
    long pages = size + AddressSpace.PAGE - 1 & -AddressSpace.PAGE;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
      int code = context.ask(() -> DriverFunctions.exportDmaBuf(out.address(), address, pages));
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
}
