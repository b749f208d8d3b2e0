package dev.doorbell.proxy;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.AddressableMemory;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;

/** Memory of the emulated world, as a GPU would allocate it. */
final class NativeMemory extends AddressableMemory {
  private final AddressSpace space;
  private final Allocation allocation;

  private NativeMemory(AddressSpace space, Allocation allocation) {
    this.space = space;
    this.allocation = allocation;
  }

  static NativeMemory allocate(
      AddressSpace space, int rank, MemoryKind kind, long bytes, String label) {
    Locus where =
        switch (kind) {
          case DEVICE, MANAGED, SCRATCH, MULTICAST -> Locus.gpu(rank, 0);
          case HOST -> Locus.cpu(rank);
          case NIC, UAR -> Locus.nic(rank, 0);
        };
    return new NativeMemory(space, space.allocate(kind, where, bytes, label));
  }

  @Override
  public MemoryKind kind() {
    return allocation.kind();
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
    space.check(what, address() + offset, bytes);
  }

  @Override
  public void close() {
    space.free(allocation);
  }
}
