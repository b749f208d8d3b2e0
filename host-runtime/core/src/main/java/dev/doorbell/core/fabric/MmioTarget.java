package dev.doorbell.core.fabric;

/** A device whose registers are stored to. */
@FunctionalInterface
public interface MmioTarget {
  /**
   * One write transaction arrived at a page of kind {@link
   * dev.doorbell.core.memory.MemoryKind#UAR}. Called on the storing thread under {@link
   * DirectFabric}: record it, do not act on it.
   *
   * @param address where in the address space
   * @param source native address of the bytes, valid during the call
   * @param bytes how many arrived in this transaction: 4, 8, or up to 64 where stores were combined
   */
  void mmioWrite(long address, long source, int bytes);
}
