package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.util.HashMap;
import java.util.Map;

/**
 * An XRC domain: receivers, which send nothing, and shared receive queues that serve them. Programs
 * share one by a file.
 */
public final class XrcDomain {
  /** Blocks of a receiver's send ring, which stays empty. */
  private final int blocks;

  private final SoftProtectionDomain domain;
  private final MemoryProvider memory;
  private final CompletionQueue unused;

  private final Map<Integer, Receiver> receivers = new HashMap<>();

  XrcDomain(SoftHca hca) {
    blocks = hca.attributes().minSendBlocks();
    domain = hca.allocateProtectionDomain();
    memory = hca.memory();
    unused =
        domain.createCompletionQueue(CompletionQueueAttributes.ring(1, MemoryKind.HOST), memory);
  }

  /** The domain at the HCA. */
  public SoftProtectionDomain domain() {
    return domain;
  }

  public Receiver createReceiver() {
    SoftQueuePair queuePair =
        (SoftQueuePair)
            domain.createQueuePair(
                new QueuePairAttributes(
                    blocks, 0, unused, null, MemoryKind.HOST, MemoryKind.HOST, Transport.XRC, null),
                memory);
    Receiver receiver = new Receiver(this, queuePair);
    receivers.put(queuePair.number(), receiver);
    return receiver;
  }

  /** The receiver with that number. */
  public Receiver receiver(int number) throws ErrnoException {
    return ErrnoException.present(receivers.get(number), Errno.EINVAL);
  }

  void remove(QueuePair receiver) {
    receivers.remove(receiver.number());
  }

  /** The last opening has ended, and so have all receivers and queues. */
  void close() {
    unused.close();
    domain.close();
  }

  /** The receiving queue pair of an extended reliable connection: it ends with its last handle. */
  public static final class Receiver {
    public final QueuePairControl control;
    final SoftQueuePair queuePair;
    private final XrcDomain domain;
    private int handles;

    Receiver(XrcDomain domain, SoftQueuePair queuePair) {
      this.domain = domain;
      this.queuePair = queuePair;
      this.control = new QueuePairControl(queuePair, Transport.XRC);
    }

    void use() {
      handles++;
    }

    void unuse() {
      handles--;
      if (handles == 0) {
        queuePair.close();
        domain.remove(queuePair);
      }
    }
  }
}
