package dev.doorbell.ptxvm.memory;

import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.AddressableMemory;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import java.util.function.Consumer;

/** A range of the world's address space; every access of the host is checked against it. */
public final class VmMemory extends AddressableMemory {
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
  public long address() {
    return address;
  }

  @Override
  public long size() {
    return size;
  }

  public Allocation allocation() {
    return allocation;
  }

  @Override
  protected void check(String access, long offset, long bytes) {
    String what = access + " by the host";
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
  protected void zero(long at, long bytes) {
    if (bytes > 0) {
      space.zero(at, bytes);
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
