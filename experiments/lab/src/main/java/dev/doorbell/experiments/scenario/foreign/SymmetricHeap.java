package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * The symmetric heap of a rank: one region, in which ranks that allocate the same in the same order
 * find everything at the same offsets.
 */
public final class SymmetricHeap implements AutoCloseable {
  private static final long ALIGNMENT = 256;

  private final Owned owned = new Owned();
  private final Memory memory;
  private final MemoryRegion region;
  private long used;

  /**
   * Allocates and registers a heap of zeros.
   *
   * @param bytes of all that is allocated in it, {@link #room} each
   */
  public SymmetricHeap(Rank rank, MemoryKind kind, Set<AccessRight> rights, long bytes) {
    memory = owned.add(rank.gpu().allocate(kind, bytes, "symmetric heap"));
    memory.fill(0, memory.size(), (byte) 0);
    region = owned.add(rank.domain().register(memory, rights));
  }

  /** The bytes that an allocation of {@code bytes} takes of a heap. */
  public static long room(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /**
   * The next bytes of the heap, zeros at first. Closing them does nothing.
   *
   * @throws GpuException when the heap is full
   */
  public Memory allocate(long bytes, String label) {
    if (bytes > memory.size() - used) {
      throw new GpuException(
          "the symmetric heap of %d bytes is full: %d bytes for %s do not fit behind %d"
              .formatted(memory.size(), bytes, label, used));
    }
    Part part = new Part(memory, used, bytes);
    used += room(bytes);
    return part;
  }

  /** All of it. */
  Memory memory() {
    return memory;
  }

  /** Address of its first byte. */
  long address() {
    return memory.address();
  }

  /** Its length. */
  long bytes() {
    return memory.size();
  }

  /** The key of the rank's own work requests. */
  int lkey() {
    return region.lkey();
  }

  /** The key of the peers'. */
  int rkey() {
    return region.rkey();
  }

  @Override
  public void close() {
    owned.close();
  }

  /** Some bytes of a heap. */
  private record Part(Memory heap, long from, long size) implements Memory {
    @Override
    public MemoryKind kind() {
      return heap.kind();
    }

    @Override
    public Locus locus() {
      return heap.locus();
    }

    @Override
    public long address() {
      return heap.address() + from;
    }

    private long at(long offset, long bytes) {
      if (offset < 0 || bytes > size - offset) {
        throw new IndexOutOfBoundsException(
            "[%d, %d) of %d bytes".formatted(offset, offset + bytes, size));
      }
      return from + offset;
    }

    @Override
    public void write(long offset, MemorySegment source) {
      heap.write(at(offset, source.byteSize()), source);
    }

    @Override
    public void read(long offset, MemorySegment target) {
      heap.read(at(offset, target.byteSize()), target);
    }

    @Override
    public void fill(long offset, long bytes, byte value) {
      heap.fill(at(offset, bytes), bytes, value);
    }

    @Override
    public void close() {
      // The heap's memory is given back as a whole.
    }
  }
}
