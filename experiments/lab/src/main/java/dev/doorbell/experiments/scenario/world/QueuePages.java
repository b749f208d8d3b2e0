package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.memory.VmMemory;
import java.util.EnumMap;
import java.util.Map;

/**
 * Memory of the queues of a rank that has many: parts of few allocations. An allocation has pages
 * of its own, of which a queue pair that posts little would touch a few bytes each.
 */
final class QueuePages implements MemoryProvider, AutoCloseable {
  private static final long PIECE = 1L << 20;
  private static final long LINE = 128;

  private final AddressSpace space;
  private final VmGpu gpu;
  private final Owned pieces = new Owned();
  private final Map<MemoryKind, Piece> newest = new EnumMap<>(MemoryKind.class);

  private record Piece(VmMemory memory, long used) {}

  QueuePages(AddressSpace space, VmGpu gpu) {
    this.space = space;
    this.gpu = gpu;
  }

  /** Allocates zeros: at a page where they fill one, else at a line of a GPU's cache. */
  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    long alignment = bytes < AddressSpace.PAGE ? LINE : AddressSpace.PAGE;
    Piece piece = newest.get(kind);
    long start = piece == null ? 0 : (piece.used + alignment - 1) & -alignment;
    if (piece == null || start + bytes > piece.memory.size()) {
      Memory memory = pieces.add(gpu.allocate(kind, Math.max(PIECE, bytes), "queues"));
      piece = new Piece((VmMemory) memory, 0);
      start = 0;
    }
    newest.put(kind, new Piece(piece.memory, start + bytes));
    return new VmMemory(
        space, piece.memory.allocation(), piece.memory.address() + start, bytes, _ -> {});
  }

  @Override
  public void close() {
    pieces.close();
  }
}
