package dev.doorbell.core.memory;

import java.util.List;

/**
 * A multicast object: addresses behind which the memory of several GPUs lies, byte by byte, as
 * NVLink SHARP gives them. {@code multimem} instructions alone may use them; loads, stores, atomics
 * and DMA are refused.
 */
public final class Multicast implements AutoCloseable {
  private final AddressSpace space;
  private final Allocation allocation;
  private boolean closed;

  /**
   * Binds memory to new addresses.
   *
   * @param locus of the GPU whose kernels use them
   * @param members device memory, all of one size
   * @param label for messages
   */
  public Multicast(AddressSpace space, Locus locus, List<Memory> members, String label) {
    long bytes = members.getFirst().size();
    for (Memory member : members) {
      if (member.size() != bytes || member.kind() != MemoryKind.DEVICE) {
        throw new IllegalArgumentException(
            "members of '%s' have to be device memory of %d bytes".formatted(label, bytes));
      }
    }
    this.space = space;
    this.allocation =
        space.multicast(locus, bytes, members.stream().mapToLong(Memory::address).toArray(), label);
  }

  /** The first of its addresses. */
  public long address() {
    return allocation.address();
  }

  /** Gives the addresses back; the memory of the members stays. Closing twice does nothing. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      space.free(allocation);
    }
  }
}
