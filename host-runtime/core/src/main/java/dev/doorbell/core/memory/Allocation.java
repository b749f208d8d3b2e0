package dev.doorbell.core.memory;

/**
 * A live range of an {@link AddressSpace}.
 *
 * @param address first byte
 * @param size bytes
 * @param kind what it is made of
 * @param locus where it lies
 * @param label what it is for; errors quote it
 */
public record Allocation(long address, long size, MemoryKind kind, Locus locus, String label) {

  /** True when {@code [address, address + size)} lies inside. */
  public boolean contains(long at, long bytes) {
    return bytes >= 0 && at >= address && bytes <= size - (at - address);
  }

  @Override
  public String toString() {
    return "'%s' (%s memory of %s, %d bytes at 0x%x)"
        .formatted(label, kind.word(), locus, size, address);
  }
}
