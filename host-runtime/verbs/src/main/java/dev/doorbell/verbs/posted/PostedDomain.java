package dev.doorbell.verbs.posted;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.verbs.device.VerbsDomain;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A protection domain whose WQEs are posted by the CPU. */
public final class PostedDomain extends VerbsDomain {
  /** The provider's queue must hold the outstanding requests of all its queue pairs. */
  private static final int SMALLEST_DEPTH = 4096;

  private final PostedDevice device;
  private final PostingEngine engine;
  private final HcaAttributes limits;

  /**
   * @param onClose called once, when the domain has been closed
   */
  public PostedDomain(
      Hca hca, PostedDevice device, PostingEngine engine, Consumer<VerbsDomain> onClose) {
    super(hca, device.context, onClose);
    this.device = device;
    this.engine = engine;
    this.limits = hca.attributes();
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory) {
    int largest = limits.maxCompletionEntries();
    requireLegal(attributes, largest);
    int number = device.nextQueueNumber();
    int depth = Math.min(largest, Math.max(SMALLEST_DEPTH, attributes.entries()));
    String label = "%s cq 0x%x".formatted(context.name, number);
    @Nullable Memory ring = null;
    @Nullable Memory record = null;
    try {
      ring =
          memory.allocate(
              attributes.ringIn(), (long) attributes.entries() * Cqe.BYTES, label + " ring");
      record = memory.allocate(attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      device.requireReadable(ring);
      device.requireReadable(record);
      PostedCompletionQueue queue =
          new PostedCompletionQueue(device, this, number, depth, attributes, ring, record);
      engine.add(queue);
      opened(queue);
      return queue;
    } catch (RuntimeException e) {
      release(ring, record);
      throw e;
    }
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes, MemoryProvider memory) {
    requireLegal(attributes, 1, 1, limits.maxSendBlocks());
    PostedCompletionQueue send = requireQueue("send", attributes.sendQueue());
    CompletionQueue receiveQueue = attributes.receiveQueue();
    PostedCompletionQueue receive =
        receiveQueue == null ? null : requireQueue("receive", receiveQueue);
    String label = context.name + " qp";
    @Nullable Memory sendRing = null;
    @Nullable Memory receiveRing = null;
    @Nullable Memory record = null;
    try {
      long sendBytes = (long) attributes.sendBlocks() * SendQueue.BLOCK;
      sendRing = memory.allocate(attributes.ringIn(), sendBytes, label + " send ring");
      if (attributes.receiveEntries() != 0) {
        long bytes = (long) attributes.receiveEntries() * ReceiveSegment.BYTES;
        receiveRing = memory.allocate(attributes.ringIn(), bytes, label + " receive ring");
        device.requireReadable(receiveRing);
      }
      record = memory.allocate(attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      device.requireReadable(sendRing);
      device.requireReadable(record);
      PostedQueuePair queuePair =
          new PostedQueuePair(
              device, this, attributes, send, receive, sendRing, receiveRing, record);
      engine.add(queuePair);
      opened(queuePair);
      return queuePair;
    } catch (RuntimeException e) {
      release(sendRing, receiveRing, record);
      throw e;
    }
  }

  private PostedCompletionQueue requireQueue(String role, CompletionQueue queue) {
    if (queue instanceof PostedCompletionQueue posted && engine.isOpen(posted)) {
      return posted;
    }
    throw notOpen(role, queue);
  }

  @Override
  public void closed(AutoCloseable object) {
    engine.remove(object);
    super.closed(object);
  }
}
