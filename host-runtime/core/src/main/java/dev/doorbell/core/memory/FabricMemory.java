package dev.doorbell.core.memory;

/** Memory of an address space, for emulated worlds without a GPU. */
public final class FabricMemory extends AddressableMemory {
  private final AddressSpace space;
  private final Allocation allocation;
  private boolean closed;

  private FabricMemory(AddressSpace space, Allocation allocation) {
    this.space = space;
    this.allocation = allocation;
  }

  /** GPU memory and host memory of {@code rank}. */
  public static MemoryProvider of(AddressSpace space, int rank) {
    return (kind, bytes, label) -> {
      Locus locus = kind == MemoryKind.DEVICE ? Locus.gpu(rank, 0) : Locus.cpu(rank);
      return new FabricMemory(space, space.allocate(kind, locus, bytes, label));
    };
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
    if (closed || offset < 0 || offset > size() - bytes) {
      throw new IndexOutOfBoundsException(
          "%s of %d bytes at offset %d of %s".formatted(what, bytes, offset, allocation));
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      space.free(allocation);
    }
  }
}
