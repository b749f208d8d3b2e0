package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;

/** The world's memory behind the machine; hosts look there when a run has ended. */
final class SpaceBacking implements MemoryMachine.Backing {
  private final AddressSpace memory;

  SpaceBacking(AddressSpace memory) {
    this.memory = memory;
  }

  @Override
  public long word(long address) {
    return RawMemory.getLong(address);
  }

  @Override
  public void store(long address, long value, long mask) {
    RawMemory.putLong(address, (RawMemory.getLong(address) & ~mask) | (value & mask));
  }

  @Override
  public boolean onGpu(long address) {
    Allocation allocation = memory.find(address);
    return allocation != null
        && (allocation.kind() == MemoryKind.DEVICE || allocation.kind() == MemoryKind.MANAGED);
  }
}
