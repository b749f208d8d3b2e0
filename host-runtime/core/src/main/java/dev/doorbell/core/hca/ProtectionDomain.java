package dev.doorbell.core.hca;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.Set;

/** Groups the regions and queue pairs that may work together. */
public interface ProtectionDomain extends AutoCloseable {
  /** The HCA it belongs to. */
  Hca hca();

  /**
   * Registers {@code [offset, offset + length)} of {@code memory}; GPU memory by dma-buf or peermem
   * on a real HCA.
   *
   * @throws HcaException for a range outside the memory or rights that contradict each other
   */
  MemoryRegion register(Memory memory, long offset, long length, Set<AccessRight> rights);

  default MemoryRegion register(Memory memory, Set<AccessRight> rights) {
    return register(memory, 0, memory.size(), rights);
  }

  /**
   * Allocates on-chip memory (MEMIC). It is a {@link Memory} of kind NIC whose address kernels may
   * store to once the GPU has mapped it; it is registered like any other.
   *
   * @throws HcaException when there is not that much left
   */
  Memory allocateOnChip(long bytes);

  /**
   * Creates a completion queue.
   *
   * @param memory provides the ring and the doorbell record where the attributes place them
   */
  CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory);

  /**
   * Creates a completion queue whose events go to {@code channel}.
   *
   * @param channel made by {@link Hca#createCompletionChannel} of the same HCA
   * @throws HcaException where the HCA has no channels
   */
  default CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory, CompletionChannel channel) {
    throw new HcaException(
        "%s has no completion channels".formatted(hca().name()), Errno.EOPNOTSUPP);
  }

  /**
   * Creates a shared receive queue.
   *
   * @param memory provides the ring and the doorbell record where the attributes place them
   */
  SharedReceiveQueue createSharedReceiveQueue(
      SharedReceiveQueueAttributes attributes, MemoryProvider memory);

  /**
   * Finds the way to an HCA for datagrams.
   *
   * @param hca as in {@link QueuePairAddress#hca}
   * @throws HcaException when no device has that address
   */
  AddressHandle createAddressHandle(String hca, int trafficClass);

  /**
   * Creates a queue pair in state RESET.
   *
   * @param memory provides the rings and the doorbell record where the attributes place them
   */
  QueuePair createQueuePair(QueuePairAttributes attributes, MemoryProvider memory);

  /**
   * Creates a target of dynamic connections, ready for them.
   *
   * @throws HcaException where the HCA has none
   */
  default DcTarget createDcTarget(DcTargetAttributes attributes) {
    throw new HcaException(
        "%s has no targets of dynamic connections".formatted(hca().name()), Errno.EOPNOTSUPP);
  }

  /**
   * @throws HcaException when regions or queues of it are still open, naming them
   */
  @Override
  void close();
}
