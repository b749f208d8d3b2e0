package dev.doorbell.softhca;

import dev.doorbell.core.memory.AddressableMemory;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Memory that is not given back to the system, for tests that create thousands of queue pairs: most
 * of their time would be system calls.
 */
final class RecycledMemory implements MemoryProvider {
  private final MemoryProvider provider;
  private final Map<Size, Deque<Memory>> spare = new HashMap<>();

  private record Size(MemoryKind kind, long bytes) {}

  RecycledMemory(MemoryProvider provider) {
    this.provider = provider;
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    Deque<Memory> unused = spare.computeIfAbsent(new Size(kind, bytes), size -> new ArrayDeque<>());
    if (unused.isEmpty()) {
      return new Lent(provider.allocate(kind, bytes, label), unused);
    }
    Memory memory = unused.pop();
    memory.fill(0, bytes, (byte) 0);
    return new Lent(memory, unused);
  }

  /** Memory until it is closed. */
  private static final class Lent extends AddressableMemory {
    private final Memory memory;
    private final Deque<Memory> unused;
    private boolean closed;

    Lent(Memory memory, Deque<Memory> unused) {
      this.memory = memory;
      this.unused = unused;
    }

    @Override
    public MemoryKind kind() {
      return memory.kind();
    }

    @Override
    public long address() {
      return memory.address();
    }

    @Override
    public long size() {
      return memory.size();
    }

    @Override
    protected void check(String what, long offset, long bytes) {
      if (closed || offset < 0 || offset > size() - bytes) {
        throw new IndexOutOfBoundsException(
            "%s of %d bytes at offset %d of %d".formatted(what, bytes, offset, size()));
      }
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        unused.push(memory);
      }
    }
  }
}
