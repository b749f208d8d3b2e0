package dev.doorbell.interop.shim.client;

import dev.doorbell.core.memory.AddressableMemory;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;

/** Memory of a queue in a {@link Lease}, which outlives it: closing the memory does nothing. */
public final class LeasedMemory extends AddressableMemory {
  private final long address;
  private final long size;

  public LeasedMemory(long address, long size) {
    this.address = address;
    this.size = size;
  }

  /** Hands out {@code memories} one after the other. */
  public static MemoryProvider inOrder(Memory... memories) {
    return new MemoryProvider() {
      private int next;

      @Override
      public Memory allocate(MemoryKind kind, long bytes, String label) {
        Memory memory = memories[next++];
        if (bytes > memory.size()) {
          throw new IllegalStateException(
              "%s needs %d bytes and has %d".formatted(label, bytes, memory.size()));
        }
        return memory;
      }
    };
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  protected void check(String what, long offset, long bytes) {
    if (offset < 0 || bytes < 0 || offset > size - bytes) {
      throw new IndexOutOfBoundsException(
          "%s of %d bytes at offset %d of %d".formatted(what, bytes, offset, size));
    }
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.HOST;
  }

  @Override
  public void close() {
    // The lease is closed instead.
  }
}
