package dev.doorbell.softhca.shim;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;

/** Memory of a queue that somebody else owns; closing it does nothing. */
record LeasedMemory(long address, long size) implements Memory {

  /** Gives out queues' memory in the order in which it is asked for. */
  static MemoryProvider inOrder(LeasedMemory... memories) {
    return new MemoryProvider() {
      private int next;

      @Override
      public Memory allocate(MemoryKind kind, long bytes, String label) {
        LeasedMemory memory = memories[next++];
        if (bytes > memory.size) {
          throw new IllegalStateException(
              "%s needs %d bytes and has %d".formatted(label, bytes, memory.size));
        }
        return memory;
      }
    };
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.HOST;
  }

  @Override
  public Locus locus() {
    return Locus.cpu(0);
  }

  @Override
  public void write(long offset, MemorySegment source) {
    RawMemory.copyIn(source, 0, address + offset, source.byteSize());
  }

  @Override
  public void read(long offset, MemorySegment target) {
    RawMemory.copyOut(address + offset, target, 0, target.byteSize());
  }

  @Override
  public void fill(long offset, long bytes, byte value) {
    RawMemory.fill(address + offset, bytes, value);
  }

  @Override
  public void close() {
    // Whoever leased it gives it back.
  }
}
