package dev.doorbell.interop.shim.client;

import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of a queue in a {@link GpuRange}, which outlives it: closing the memory does nothing. */
final class GpuQueueMemory implements Memory {
  private final SharedGpus gpus;
  private final long address;
  private final long size;

  GpuQueueMemory(SharedGpus gpus, long address, long size) {
    this.gpus = gpus;
    this.address = address;
    this.size = size;
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.DEVICE;
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
  public void write(long offset, MemorySegment source) {
    long bytes = source.byteSize();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(Math.max(1, bytes), Long.BYTES);
      MemorySegment.copy(source, 0, copy, 0, bytes);
      require("write", offset, bytes, gpus.write(copy.address(), at(offset, bytes), bytes));
    }
  }

  @Override
  public void read(long offset, MemorySegment target) {
    long bytes = target.byteSize();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(Math.max(1, bytes), Long.BYTES);
      require("read", offset, bytes, gpus.read(at(offset, bytes), copy.address(), bytes));
      MemorySegment.copy(copy, 0, target, 0, bytes);
    }
  }

  @Override
  public void fill(long offset, long bytes, byte value) {
    try (Arena arena = Arena.ofConfined()) {
      write(offset, arena.allocate(bytes).fill(value));
    }
  }

  private long at(long offset, long bytes) {
    if (offset < 0 || bytes < 0 || offset > size - bytes) {
      throw new IndexOutOfBoundsException(
          "%d bytes at offset %d of %d".formatted(bytes, offset, size));
    }
    return ClientFabric.onGpu(address + offset);
  }

  private void require(String what, long offset, long bytes, boolean done) {
    if (!done) {
      throw new AccessFault(
          "DMA " + what, at(offset, bytes), (int) bytes, String.valueOf(gpus.failure()));
    }
  }

  @Override
  public void close() {
    // The range is closed instead.
  }
}
