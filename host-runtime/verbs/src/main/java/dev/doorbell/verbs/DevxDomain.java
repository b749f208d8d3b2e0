package dev.doorbell.verbs;

import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
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
import dev.doorbell.verbs.NativeFunction.Failure;
import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_pd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** A protection domain whose queues are made by firmware commands. */
final class DevxDomain extends VerbsDomain {
  /** {@code struct mlx5dv_obj}: seven pairs of pointers, what is known and what is asked for. */
  static final int OBJECTS_BYTES = 112;

  static final int PD_IN_OFFSET = 96;
  static final int PD_OUT_OFFSET = 104;

  /** The send ring follows the receive ring, and begins at a whole block. */
  private static final int SMALLEST_RECEIVE_RING = SendQueue.BLOCK / ReceiveSegment.BYTES;

  private static final Failure NUMBER =
      Failure.of(
          "learn the number of a protection domain", "update libmlx5 to that of rdma-core 44");

  private final Mlx5Hca hca;
  private final int number;

  DevxDomain(Mlx5Hca hca) {
    super(hca.context);
    this.hca = hca;
    this.number = findNumber();
  }

  private int findNumber() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment objects = arena.allocate(OBJECTS_BYTES, Long.BYTES);
      MemorySegment found = arena.allocate(mlx5dv_pd.layout());
      objects.set(ValueLayout.ADDRESS, PD_IN_OFFSET, pd);
      objects.set(ValueLayout.ADDRESS, PD_OUT_OFFSET, found);
      Mlx5Functions.INIT_OBJ.require(NUMBER, objects, (long) Mlx5dv.MLX5DV_OBJ_PD());
      return mlx5dv_pd.pdn(found);
    }
  }

  Mlx5Hca device() {
    return hca;
  }

  int number() {
    return number;
  }

  @Override
  public Hca hca() {
    return hca;
  }

  @Override
  public Memory allocateOnChip(long bytes) {
    requireOpen("allocate on-chip memory");
    OnChip memory = OnChip.allocate(this, bytes);
    opened(memory);
    return memory;
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory) {
    return createQueue(attributes, memory, null);
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory, CompletionChannel channel) {
    if (channel instanceof DevxChannel devx && devx.hca() == hca) {
      return createQueue(attributes, memory, devx);
    }
    throw new HcaException(
        "the completion channel is not one of %s; create it there".formatted(hca.name()),
        Errno.EINVAL);
  }

  private CompletionQueue createQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory, @Nullable DevxChannel channel) {
    requireOpen("create a completion queue");
    requireSize(
        "completion queue entries",
        attributes.entries(),
        1,
        hca.attributes().maxCompletionEntries());
    requirePlace("completion ring", attributes.ringIn());
    requirePlace("completion record", attributes.recordIn());
    String label = hca.name() + " cq";
    @Nullable FirmwareMemory ring = null;
    @Nullable FirmwareMemory record = null;
    try {
      ring = place(memory, attributes.ringIn(), (long) attributes.entries() * Cqe.BYTES, label);
      record = place(memory, attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      DevxCompletionQueue queue = new DevxCompletionQueue(this, attributes, ring, record, channel);
      hca.opened(queue);
      opened(queue);
      return queue;
    } catch (RuntimeException e) {
      release(record, ring);
      throw e;
    }
  }

  private FirmwareMemory place(MemoryProvider memory, MemoryKind where, long bytes, String label) {
    return FirmwareMemory.of(hca.context, memory.allocate(where, bytes, label));
  }

  private static void release(@Nullable FirmwareMemory... memories) {
    for (FirmwareMemory memory : memories) {
      if (memory != null) {
        memory.close();
      }
    }
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(
      SharedReceiveQueueAttributes attributes, MemoryProvider memory) {
    requireOpen("create a shared receive queue");
    requireSize(
        "shared receive entries", attributes.entries(), 1, hca.attributes().maxSendBlocks());
    requireSize("segments of a shared receive and one", attributes.segments() + 1, 2, 32);
    requirePlace("shared receive ring", attributes.ringIn());
    requirePlace("shared receive record", attributes.recordIn());
    String label = hca.name() + " srq";
    long bytes = (long) attributes.entries() * attributes.stride();
    @Nullable FirmwareMemory ring = null;
    @Nullable FirmwareMemory record = null;
    try {
      ring = place(memory, attributes.ringIn(), bytes, label);
      record = place(memory, attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      DevxSharedReceiveQueue queue = new DevxSharedReceiveQueue(this, attributes, ring, record);
      opened(queue);
      return queue;
    } catch (RuntimeException e) {
      release(record, ring);
      throw e;
    }
  }

  @Override
  public AddressHandle createAddressHandle(String to, int trafficClass) {
    requireOpen("create an address handle");
    PeerAddress peer = PeerAddress.parse(to, hca.context);
    if (!hca.context.port.ethernet()) {
      throw new HcaException(
          "%s cannot send datagrams to '%s': on InfiniBand they need a LID, which WQEs are not given here; connect"
              .formatted(hca.name(), to),
          Errno.EOPNOTSUPP);
    }
    return new AddressHandle(
        peer.gid().high(),
        peer.gid().low(),
        trafficClass,
        DevxQueuePair.HOP_LIMIT,
        AddressResolution.macOf(this, peer, trafficClass));
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes, MemoryProvider memory) {
    requireOpen("create a queue pair");
    HcaAttributes limits = hca.attributes();
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
    String label = hca.name() + " qp";
    @Nullable FirmwareMemory rings = null;
    @Nullable FirmwareMemory record = null;
    try {
      long bytes =
          (long) entries * ReceiveSegment.BYTES + (long) attributes.sendBlocks() * SendQueue.BLOCK;
      rings = place(memory, attributes.ringIn(), bytes, label + " rings");
      record = place(memory, attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      DevxQueuePair queuePair =
          new DevxQueuePair(this, attributes, send, receive, shared, rings, record);
      opened(queuePair);
      return queuePair;
    } catch (RuntimeException e) {
      release(record, rings);
      throw e;
    }
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
    if (queue instanceof DevxSharedReceiveQueue devx && devx.isOpenAt(hca)) {
      return devx;
    }
    throw new HcaException(
        "the shared receive queue 0x%x is not an open one of %s; create it there"
            .formatted(queue.number(), hca.name()),
        Errno.EINVAL);
  }

  private DevxCompletionQueue requireQueue(String role, CompletionQueue queue) {
    if (queue instanceof DevxCompletionQueue devx && hca.isOpen(devx)) {
      return devx;
    }
    throw new HcaException(
        "the %s completion queue 0x%x is not an open one of %s; create it there"
            .formatted(role, queue.number(), hca.name()),
        Errno.EINVAL);
  }

  @Override
  void forgotten() {
    hca.closed(this);
  }
}
