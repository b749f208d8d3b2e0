package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.verbs.device.PeerAddress;
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
  public SharedReceiveQueue createSharedReceiveQueue(
      SharedReceiveQueueAttributes attributes, MemoryProvider memory) {
    requireOpen("create a shared receive queue");
    requireSize("shared receive entries", attributes.entries(), 1, limits.maxSendBlocks());
    requireSize("segments of a shared receive and one", attributes.segments() + 1, 2, 32);
    requirePlace("shared receive ring", attributes.ringIn());
    requirePlace("shared receive record", attributes.recordIn());
    return place(
        memory,
        attributes.ringIn(),
        (long) attributes.entries() * attributes.stride(),
        "srq",
        attributes.recordIn(),
        (ring, record) -> new DevxSharedReceiveQueue(device, this, attributes, ring, record));
  }

  @Override
  public AddressHandle createAddressHandle(String to, int trafficClass) {
    requireOpen("create an address handle");
    PeerAddress peer = PeerAddress.parse(to, context);
    if (!context.port.ethernet()) {
      throw new HcaException(
          "%s cannot send datagrams to '%s': on InfiniBand they need a LID, which this back end does not write into WQEs; connect"
              .formatted(context.name, to),
          Errno.EOPNOTSUPP);
    }
    return new AddressHandle(
        peer.gid().high(),
        peer.gid().low(),
        trafficClass,
        DevxQueuePair.HOP_LIMIT,
        context.gid.entry().index(),
        AddressResolution.macOf(this, peer, trafficClass));
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes, MemoryProvider memory) {
    requireOpen("create a queue pair");
    requireSize(
        "send blocks", attributes.sendBlocks(), limits.minSendBlocks(), limits.maxSendBlocks());
    requirePlace("send and receive rings", attributes.ringIn());
    requirePlace("doorbell record", attributes.recordIn());
    int entries = attributes.receiveEntries();
    if (entries != 0) {
      requireSize("receive entries", entries, SMALLEST_RECEIVE_RING, limits.maxSendBlocks());
    }
    DevxCompletionQueue send = requireQueue("send", attributes.sendQueue());
    CompletionQueue receives = attributes.receiveQueue();
    DevxSharedReceiveQueue shared = requireShared(attributes);
    if ((entries != 0 || shared != null) && receives == null) {
      throw new HcaException(
          "a queue pair with %s needs a completion queue for receives"
              .formatted(shared == null ? entries + " receive entries" : "shared receives"),
          Errno.EINVAL);
    }
    DevxCompletionQueue receive = receives == null ? send : requireQueue("receive", receives);
    return place(
        memory,
        attributes.ringIn(),
        (long) entries * ReceiveSegment.BYTES + (long) attributes.sendBlocks() * SendQueue.BLOCK,
        "qp rings",
        attributes.recordIn(),
        (rings, record) ->
            new DevxQueuePair(device, this, attributes, send, receive, shared, rings, record));
  }

  @Override
  public DcTarget createDcTarget(DcTargetAttributes attributes) {
    requireOpen("create a DC target");
    DevxCompletionQueue completions = requireQueue("receive", attributes.completions());
    DevxDcTarget target =
        new DevxDcTarget(
            device, this, attributes, requireShared(attributes.receives()), completions);
    opened(target);
    return target;
  }

  private @Nullable DevxSharedReceiveQueue requireShared(QueuePairAttributes attributes) {
    SharedReceiveQueue queue = attributes.sharedReceives();
    if (queue == null) {
      return null;
    }
    if (attributes.receiveEntries() != 0) {
      throw new HcaException(
          "a queue pair takes receives from a ring of its own or from %s, not from both"
              .formatted(queue),
          Errno.EINVAL);
    }
    return requireShared(queue);
  }

  private DevxSharedReceiveQueue requireShared(SharedReceiveQueue queue) {
    if (queue instanceof DevxSharedReceiveQueue devx && devx.isOpenAt(device)) {
      return devx;
    }
    throw new HcaException(
        "the shared receive queue 0x%x is not an open one of %s; create it there"
            .formatted(queue.number(), context.name),
        Errno.EINVAL);
  }

  private DevxCompletionQueue requireQueue(String role, CompletionQueue queue) {
    if (queue instanceof DevxCompletionQueue devx && devx.isOpenAt(device)) {
      return devx;
    }
    throw notOpen(role, queue);
  }
}
