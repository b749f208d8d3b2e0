package dev.doorbell.softhca.objects;

import dev.doorbell.core.memory.AddressableMemory;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;

/** A piece of the HCA's on-chip memory (MEMIC). */
public final class OnChipMemory extends AddressableMemory {
  private final ObjectOwner domain;
  private final Allocation allocation;
  private boolean closed;

  public OnChipMemory(ObjectOwner domain, Allocation allocation) {
    this.domain = domain;
    this.allocation = allocation;
  }

  public Allocation allocation() {
    return allocation;
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.NIC;
  }

  @Override
  public Locus locus() {
    return allocation.locus();
  }

  @Override
  public long address() {
    return allocation.address();
  }

  @Override
  public long size() {
    return allocation.size();
  }

  @Override
  protected void check(String what, long offset, long bytes) {
    if (closed || offset < 0 || bytes < 0 || offset > size() - bytes) {
      throw new IndexOutOfBoundsException(
          "%s of %d bytes at offset %d of %s%s"
              .formatted(what, bytes, offset, allocation, closed ? ", which is closed" : ""));
    }
  }

  @Override
  public void close() {
    if (!closed) {
      domain.closing(this);
      closed = true;
    }
  }

  @Override
  public String toString() {
    return "on-chip memory (%d bytes at 0x%x)".formatted(size(), address());
  }
}
