package dev.doorbell.ptxvm.memory;

import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** A range of the world's address space; every access of the host is checked against it. */
public final class VmMemory implements Memory {
  private final AddressSpace space;
  private final Allocation allocation;
  private final long address;
  private final long size;
  private final Consumer<VmMemory> onClose;
  private boolean closed;

  /**
   * A range inside {@code allocation}.
   *
   * @param onClose called once when the owner gives it back
   */
  public VmMemory(
      AddressSpace space,
      Allocation allocation,
      long address,
      long size,
      Consumer<VmMemory> onClose) {
    this.space = space;
    this.allocation = allocation;
    this.address = address;
    this.size = size;
    this.onClose = onClose;
  }

  @Override
  public MemoryKind kind() {
    return allocation.kind();
  }

  @Override
  public Locus locus() {
    return allocation.locus();
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long size() {
    return size;
  }

  /** The allocation that it lies in. */
  public Allocation allocation() {
    return allocation;
  }

  @Override
  public void write(long offset, MemorySegment source) {
    check("write by the host", offset, source.byteSize());
    RawMemory.copyIn(source, 0, address + offset, source.byteSize());
  }

  @Override
  public void read(long offset, MemorySegment target) {
    check("read by the host", offset, target.byteSize());
    RawMemory.copyOut(address + offset, target, 0, target.byteSize());
  }

  @Override
  public void fill(long offset, long bytes, byte value) {
    check("fill by the host", offset, bytes);
    if (bytes > 0) {
      RawMemory.fill(address + offset, bytes, value);
    }
  }

  private void check(String what, long offset, long bytes) {
    if (closed) {
      throw new IllegalStateException(
          "%s of '%s' after it was closed".formatted(what, allocation.label()));
    }
    // The address space forgets it when its owner is gone: a module, or the whole world.
    if (offset < 0
        || bytes < 0
        || bytes > size - offset
        || !space.accessibleRange(address + offset, bytes)) {
      throw new AccessFault(what, address + offset, bytes, space.describe(address + offset, bytes));
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
    return allocation.toString();
  }
}
