package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.softhca.DriverAccess;

/**
 * An XRC domain: receivers, which send nothing, and shared receive queues that serve them. Programs
 * share one by a file.
 */
public final class XrcDomain {
  /** Blocks of a receiver's send ring, which stays empty. */
  private final int blocks;

  private final ProtectionDomain domain;
  private final MemoryProvider memory;
  private final CompletionQueue unused;

  /** Openings, receivers and queues. */
  private int users;

  XrcDomain(Hca hca) {
    blocks = hca.attributes().minSendBlocks();
    domain = hca.allocateProtectionDomain();
    memory = DriverAccess.memory(hca);
    unused =
        domain.createCompletionQueue(CompletionQueueAttributes.ring(1, MemoryKind.HOST), memory);
  }

  /** The domain at the HCA. */
  public ProtectionDomain domain() {
    return domain;
  }

  public QueuePair createReceiver() {
    return domain.createQueuePair(
        new QueuePairAttributes(
            blocks, 0, unused, null, MemoryKind.HOST, MemoryKind.HOST, Transport.XRC, null),
        memory);
  }

  public void use() {
    users++;
  }

  public void unuse() {
    users--;
  }

  /**
   * Ends an opening.
   *
   * @param last whether it is the only one
   * @return true when the domain is gone
   */
  boolean close(boolean last) {
    if (last && users > 1) {
      throw new HcaException(
          "XRC domain: %d receivers and queues are still open".formatted(users - 1), Errno.EBUSY);
    }
    users--;
    if (users == 0) {
      unused.close();
      domain.close();
    }
    return users == 0;
  }
}
