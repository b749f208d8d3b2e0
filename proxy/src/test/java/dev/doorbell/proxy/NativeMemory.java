package dev.doorbell.proxy;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;

/** Memory of the emulated world, as a GPU would allocate it. */
record NativeMemory(AddressSpace space, Allocation allocation) implements Memory {
  static NativeMemory allocate(
      AddressSpace space, int rank, MemoryKind kind, long bytes, String label) {
    Locus where =
        switch (kind) {
          case DEVICE, MANAGED, SCRATCH -> Locus.gpu(rank, 0);
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
  public void write(long offset, MemorySegment source) {
    space.check("write", address() + offset, source.byteSize());
    RawMemory.copyIn(source, 0, address() + offset, source.byteSize());
  }

  @Override
  public void read(long offset, MemorySegment target) {
    space.check("read", address() + offset, target.byteSize());
    RawMemory.copyOut(address() + offset, target, 0, target.byteSize());
  }

  @Override
  public void fill(long offset, long bytes, byte value) {
    space.check("fill", address() + offset, bytes);
    RawMemory.fill(address() + offset, bytes, value);
  }

  @Override
  public void close() {
    space.free(allocation);
  }
}
