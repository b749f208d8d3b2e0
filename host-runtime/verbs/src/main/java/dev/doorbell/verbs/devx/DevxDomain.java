package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.verbs.device.VerbsDomain;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A protection domain whose queues are created by firmware commands. */
public final class DevxDomain extends VerbsDomain {
  /** The send ring follows the receive ring and begins at a multiple of a block. */
  private static final int SMALLEST_RECEIVE_RING = SendQueue.BLOCK / ReceiveSegment.BYTES;

  private final DevxDevice device;
  private final HcaAttributes limits;

  /**
   * @param onClose called once, when the domain has been closed
   */
  public DevxDomain(Hca hca, DevxDevice device, Consumer<VerbsDomain> onClose) {
    super(hca, device.context, onClose);
    this.device = device;
    this.limits = hca.attributes();
  }

  @Override
  public Memory allocateOnChip(long bytes) {
    requireOpen("allocate on-chip memory");
    OnChip memory = OnChip.allocate(device, bytes, this::closed);
    opened(memory);
    return memory;
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory) {
    requireLegal(attributes, limits.maxCompletionEntries());
    return place(
        memory,
        attributes.ringIn(),
        (long) attributes.entries() * Cqe.BYTES,
        "cq",
        attributes.recordIn(),
        (ring, record) -> new DevxCompletionQueue(device, this, attributes, ring, record));
  }

  /**
   * Creates a queue in a ring and a doorbell record, which are freed if that fails.
   *
   * @param bytes of the ring
   * @param label of the ring
   * @param create creates the queue from ring and record
   */
  private <Q extends AutoCloseable> Q place(
      MemoryProvider memory,
      MemoryKind ringIn,
      long bytes,
      String label,
      MemoryKind recordIn,
      BiFunction<FirmwareMemory, FirmwareMemory, Q> create) {
    String name = context.name + " " + label;
    @Nullable FirmwareMemory ring = null;
    @Nullable FirmwareMemory record = null;
    try {
      ring = FirmwareMemory.of(context, memory.allocate(ringIn, bytes, name));
      record =
          FirmwareMemory.of(
              context, memory.allocate(recordIn, DoorbellRecord.BYTES, name + " record"));
      Q queue = create.apply(ring, record);
      opened(queue);
      return queue;
    } catch (RuntimeException e) {
      if (record != null) {
        record.close();
      }
      if (ring != null) {
        ring.close();
      }
      throw e;
    }
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes, MemoryProvider memory) {
    requireLegal(attributes, limits.minSendBlocks(), SMALLEST_RECEIVE_RING, limits.maxSendBlocks());
    DevxCompletionQueue send = requireQueue("send", attributes.sendQueue());
    CompletionQueue receives = attributes.receiveQueue();
    DevxCompletionQueue receive = receives == null ? send : requireQueue("receive", receives);
    return place(
        memory,
        attributes.ringIn(),
        (long) attributes.receiveEntries() * ReceiveSegment.BYTES
            + (long) attributes.sendBlocks() * SendQueue.BLOCK,
        "qp rings",
        attributes.recordIn(),
        (rings, record) ->
            new DevxQueuePair(device, this, attributes, send, receive, rings, record));
  }

  private DevxCompletionQueue requireQueue(String role, CompletionQueue queue) {
    if (queue instanceof DevxCompletionQueue devx && devx.isOpenAt(device)) {
      return devx;
    }
    throw notOpen(role, queue);
  }
}
