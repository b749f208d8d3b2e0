package dev.doorbell.softhca;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.efa.generated.RxDescriptor;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.foreign.EfaCompletionQueue;
import dev.doorbell.softhca.foreign.EfaQueuePair;
import dev.doorbell.softhca.foreign.ForeignQueuePair;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import dev.doorbell.softhca.objects.OnChipSpace.OnChipMemory;
import dev.doorbell.softhca.objects.QueueMemory;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftCompletionQueue.SoftCompletionChannel;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.objects.Uar;
import dev.doorbell.softhca.queuepair.HcaEngine.ScheduledQueuePair;
import dev.doorbell.softhca.queuepair.HcaObjects;
import dev.doorbell.softhca.queuepair.SoftDcTarget;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes and owns regions and queues; they close in any order that their dependencies allow. Drivers
 * find here what the contract of {@code core.hca} has no need of: memory by other addresses than
 * its own, and receive WQEs of any size.
 */
public final class SoftProtectionDomain implements ProtectionDomain, ObjectOwner {
  /** The HCA chooses the lowest 8 bits of a key. */
  public static final int ANY_VARIANT = -1;

  /**
   * Memory of queues whose driver fills completion rings itself before it creates them, as those of
   * a NIC have to: the HCA touches no entry that it does not write.
   */
  public interface FilledRings extends MemoryProvider {}

  private static final int NAMED_IN_MESSAGE = 4;
  private static final int HOP_LIMIT = 64;

  private final Hca device;
  private final HcaServices hca;
  private final HcaObjects objects;
  private final Consumer<SoftProtectionDomain> closed;

  /** The order in which {@link #closeAll} closes objects, each before what it needs. */
  private static final List<Class<? extends Owned>> CLOSING =
      List.of(
          ForeignQueuePair.class,
          SoftQueuePair.class,
          SoftDcTarget.class,
          SoftSharedReceiveQueue.class,
          SoftCompletionQueue.class,
          EfaCompletionQueue.class,
          SoftMemoryRegion.class,
          OnChipMemory.class);

  private final Set<Owned> open = new LinkedHashSet<>();
  private boolean isClosed;

  /**
   * @param closed called when it is closed
   */
  SoftProtectionDomain(Hca device, HcaObjects objects, Consumer<SoftProtectionDomain> closed) {
    this.device = device;
    this.hca = objects.hca;
    this.objects = objects;
    this.closed = closed;
  }

  @Override
  public Hca hca() {
    return device;
  }

  @Override
  public SoftMemoryRegion register(
      Memory memory, long offset, long length, Set<AccessRight> rights) {
    requireOpen("register memory");
    Rights.checkRegion(rights);
    if (offset < 0 || length <= 0 || offset > memory.size() - length) {
      throw new HcaException(
          "cannot register [%d, %d) of a memory of %d bytes: the range must lie inside and not be empty"
              .formatted(offset, offset + length, memory.size()),
          Errno.EINVAL);
    }
    hca.requireReachable(memory.address() + offset, length);
    long address = memory.address() + offset;
    return register(address, address, length, rights, ANY_VARIANT);
  }

  /**
   * Registers memory that the fabric's devices reach at {@code memory}. Nobody checks that it is
   * there: accesses that fail make work requests fail.
   *
   * @param address by which work requests name the first byte
   * @param variant the lowest 8 bits of its key, or {@link #ANY_VARIANT}
   * @throws HcaException for rights that contradict each other, or when there are no keys left
   */
  public SoftMemoryRegion register(
      long address, long memory, long length, Set<AccessRight> rights, int variant) {
    requireOpen("register memory");
    Rights.checkRegion(rights);
    int key = reserveKey();
    if (variant != ANY_VARIANT) {
      key = (key & ~0xff) | (variant & 0xff);
    }
    return add(key, address, memory, length, rights);
  }

  /**
   * Registers memory in place of a region of any domain of the HCA, which ends, under its key.
   *
   * @throws HcaException for rights that contradict each other; the region is as it was then
   */
  public SoftMemoryRegion replace(
      SoftMemoryRegion old, long address, long memory, long length, Set<AccessRight> rights) {
    requireOpen("register memory");
    Rights.checkRegion(rights);
    old.close();
    objects.regions.reserve(old.lkey());
    return add(old.lkey(), address, memory, length, rights);
  }

  private <T extends Owned> T add(T object) {
    open.add(object);
    return object;
  }

  private int reserveKey() {
    int key = objects.regions.reserve();
    if (key == 0) {
      throw new HcaException(
          "%s has no memory key left; close regions first".formatted(hca.name()), Errno.ENOMEM);
    }
    return key;
  }

  private SoftMemoryRegion add(
      int key, long address, long memory, long length, Set<AccessRight> rights) {
    SoftMemoryRegion region =
        new SoftMemoryRegion(this, key, address, memory, length, rights, hca.options().promises());
    objects.regions.put(region);
    return add(region);
  }

  @Override
  public Memory allocateOnChip(long bytes) {
    requireOpen("allocate on-chip memory");
    return add(new OnChipMemory(this, objects.onChip.allocate(bytes)));
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory) {
    return createQueue(attributes, memory, null);
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory, CompletionChannel channel) {
    requireMlx5("completion channels");
    if (channel instanceof SoftCompletionChannel soft && soft.hca().equals(hca)) {
      return createQueue(attributes, memory, soft);
    }
    throw new HcaException(
        "the completion channel is not one of %s; create it there".formatted(hca.name()),
        Errno.EINVAL);
  }

  private CompletionQueue createQueue(
      CompletionQueueAttributes attributes,
      MemoryProvider memory,
      @Nullable SoftCompletionChannel channel) {
    requireOpen("create a completion queue");
    int entries = attributes.entries();
    requireSize("completion queue entries", entries, 1, hca.options().limits().completionEntries());
    requirePlace("completion ring", attributes.ringIn());
    requirePlace("completion record", attributes.recordIn());
    int number = objects.reserve(objects.completionQueues, "completion queue");
    String label = "%s cq 0x%x".formatted(hca.name(), number);
    @Nullable Memory ring = null;
    @Nullable Memory record = null;
    try {
      ring = memory.allocate(attributes.ringIn(), attributes.ringBytes(), label + " ring");
      record = memory.allocate(attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      if (!(memory instanceof FilledRings)) {
        ring.fill(0, ring.size(), Cqe.INITIAL_FILL);
      }
      if (hca.options().promises().queues() == Promise.Queues.EFA) {
        return add(new EfaCompletionQueue(this, hca, number, attributes, ring, record));
      }
      SoftCompletionQueue queue =
          new SoftCompletionQueue(
              this, hca, number, attributes, ring, record, channel, objects.engine::arm);
      objects.completionQueues.put(number, queue);
      return add(queue);
    } catch (RuntimeException e) {
      release(ring, record);
      objects.completionQueues.remove(number);
      throw e;
    }
  }

  @Override
  public SoftSharedReceiveQueue createSharedReceiveQueue(
      SharedReceiveQueueAttributes attributes, MemoryProvider memory) {
    requireOpen("create a shared receive queue");
    requireMlx5("shared receive queues");
    requireSize("shared receive entries", attributes.entries(), 1, SendQueue.MAX_BLOCKS);
    requireSize("segments of a shared receive and one", attributes.segments() + 1, 2, 64);
    requirePlace("shared receive ring", attributes.ringIn());
    requirePlace("shared receive record", attributes.recordIn());
    int number = objects.reserve(objects.sharedReceiveQueues, "shared receive queue");
    String label = "%s srq 0x%x".formatted(hca.name(), number);
    @Nullable Memory ring = null;
    @Nullable Memory record = null;
    try {
      long bytes = (long) attributes.entries() * attributes.stride();
      ring = memory.allocate(attributes.ringIn(), bytes, label + " ring");
      record = memory.allocate(attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      SoftSharedReceiveQueue queue =
          new SoftSharedReceiveQueue(this, hca, number, attributes, ring, record);
      objects.sharedReceiveQueues.put(number, queue);
      return add(queue);
    } catch (RuntimeException e) {
      release(ring, record);
      objects.sharedReceiveQueues.remove(number);
      throw e;
    }
  }

  @Override
  public AddressHandle createAddressHandle(String to, int trafficClass) {
    requireOpen("create an address handle");
    long[] gid = hca.wire().gid(to);
    if (gid == null) {
      throw new HcaException(
          "no HCA called '%s' is on the wire of %s; there are: %s"
              .formatted(to, hca.name(), hca.wire().members()),
          Errno.EINVAL);
    }
    return new AddressHandle(gid[0], gid[1], trafficClass, HOP_LIMIT, 0, 0);
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes, MemoryProvider memory) {
    return createQueuePair(attributes, hca.options().limits().receiveSegments(), memory);
  }

  /**
   * Creates a queue pair in state RESET with receive WQEs of a size of its own.
   *
   * @param segments data segments of a receive WQE, a power of two; the receive entries of {@code
   *     attributes} are a multiple of it
   * @param memory asked for the send ring, the receive ring if there is one, and the record, in
   *     this order
   */
  public QueuePair createQueuePair(
      QueuePairAttributes attributes, int segments, MemoryProvider memory) {
    requireOpen("create a queue pair");
    SoftHcaOptions options = hca.options();
    if (options.promises().queues() != Promise.Queues.MLX5) {
      return createForeign(attributes, memory);
    }
    requireSize(
        "send blocks",
        attributes.sendBlocks(),
        options.limits().minSendBlocks(),
        options.limits().maxSendBlocks());
    requirePlace("send and receive rings", attributes.ringIn());
    requirePlace("doorbell record", attributes.recordIn());
    SoftCompletionQueue send = requireQueue("send", attributes.sendQueue());
    SoftCompletionQueue receive = null;
    int entries = attributes.receiveEntries();
    CompletionQueue receiveQueue = attributes.receiveQueue();
    if (entries != 0) {
      requireSize("receive entries", entries, segments, SendQueue.MAX_BLOCKS * segments);
      if (receiveQueue == null) {
        throw new HcaException(
            "a queue pair with %d receive entries needs a completion queue for receives"
                .formatted(entries),
            Errno.EINVAL);
      }
    }
    SoftSharedReceiveQueue shared = null;
    if (attributes.sharedReceives() != null) {
      shared = requireShared(attributes.sharedReceives());
      if (entries != 0 || receiveQueue == null) {
        throw new HcaException(
            "a queue pair with a shared receive queue has 0 receive entries of its own and a completion queue for receives; here are %d"
                .formatted(entries),
            Errno.EINVAL);
      }
    }
    if (receiveQueue != null) {
      receive = requireQueue("receive", receiveQueue);
    }
    int number = objects.reserve(objects.queuePairs, "queue pair");
    String label = "%s qp 0x%x".formatted(hca.name(), number);
    @Nullable Memory sendRing = null;
    @Nullable Memory receiveRing = null;
    @Nullable Memory record = null;
    @Nullable Allocation page = null;
    try {
      long sendBytes = (long) attributes.sendBlocks() * SendQueue.BLOCK;
      sendRing = memory.allocate(attributes.ringIn(), sendBytes, label + " send ring");
      if (entries != 0) {
        long receiveBytes = (long) entries * ReceiveSegment.BYTES;
        receiveRing = memory.allocate(attributes.ringIn(), receiveBytes, label + " receive ring");
      }
      record = memory.allocate(attributes.recordIn(), DoorbellRecord.BYTES, label + " record");
      page = hca.allocate(MemoryKind.UAR, Doorbell.UAR_BYTES, label + " doorbell page");
      Uar uar = objects.newUar(page, options.limits().blueFlameBytes());
      SoftQueuePair queuePair =
          new SoftQueuePair(
              objects,
              this,
              number,
              attributes,
              send,
              receive,
              shared,
              uar,
              new QueueMemory(sendRing, receiveRing, segments, record),
              null);
      objects.queuePairs.put(number, queuePair);
      hca.port().onMmio(page.address(), uar);
      return add(queuePair);
    } catch (RuntimeException e) {
      release(sendRing, receiveRing, record);
      if (page != null) {
        hca.free(page);
      }
      objects.queuePairs.remove(number);
      throw e;
    }
  }

  @Override
  public SoftDcTarget createDcTarget(DcTargetAttributes attributes) {
    requireOpen("create a DC target");
    requireMlx5("DC targets");
    Rights.checkRegion(attributes.rights());
    if (!SoftHcaOptions.Engine.isMtu(attributes.mtu()) || attributes.minRnrTimer() >>> 5 != 0) {
      throw new HcaException(
          "a DC target accepts a path MTU of 256, 512, 1024, 2048 or 4096 and an RNR timer of 0 to 31; here are %d and %d"
              .formatted(attributes.mtu(), attributes.minRnrTimer()),
          Errno.EINVAL);
    }
    SoftCompletionQueue completions = requireQueue("receive", attributes.completions());
    SoftSharedReceiveQueue receives = requireShared(attributes.receives());
    int number = objects.reserve(objects.queuePairs, "queue pair");
    SoftDcTarget target =
        new SoftDcTarget(objects, this, number, attributes, completions, receives);
    objects.queuePairs.put(number, target);
    return add(target);
  }

  /** Creates a queue pair whose work requests are not mlx5's. */
  private QueuePair createForeign(QueuePairAttributes attributes, MemoryProvider memory) {
    SoftHcaOptions.Limits limits = hca.options().limits();
    requireSize("send entries", attributes.sendBlocks(), 2, limits.maxSendBlocks());
    requirePlace("counters", attributes.ringIn());
    if (attributes.transport() != Transport.RC || attributes.sharedReceives() != null) {
      throw new HcaException(
          "%s has SRD queue pairs alone, without shared receive queues".formatted(hca.name()),
          Errno.EINVAL);
    }
    String label = "%s queue pair".formatted(hca.name());
    @Nullable Memory receiveRing = null;
    @Nullable Memory words = null;
    try {
      words = memory.allocate(attributes.ringIn(), EfaQueuePair.wordsBytes(), label + " counters");
      int entries = attributes.receiveEntries();
      if (entries != 0) {
        requireSize("receive entries", entries, 1, SendQueue.MAX_BLOCKS);
        receiveRing =
            memory.allocate(
                attributes.ringIn(), (long) entries * RxDescriptor.BYTES, label + " receives");
      }
      return add(
          new EfaQueuePair(
              objects,
              this,
              attributes,
              requireEfa(attributes.sendQueue()),
              entries == 0 || attributes.receiveQueue() == null
                  ? null
                  : requireEfa(attributes.receiveQueue()),
              receiveRing,
              words));
    } catch (RuntimeException e) {
      release(words, receiveRing);
      throw e;
    }
  }

  /** Refuses what HCAs with other queues than mlx5's do not have. */
  private void requireMlx5(String what) {
    Promise.Queues queues = hca.options().promises().queues();
    if (queues != Promise.Queues.MLX5) {
      throw new HcaException(
          "%s has %s queues, and so no %s".formatted(hca.name(), Promise.word(queues), what),
          Errno.EINVAL);
    }
  }

  private EfaCompletionQueue requireEfa(CompletionQueue queue) {
    if (queue instanceof EfaCompletionQueue efa && open.contains(efa)) {
      return efa;
    }
    throw notOpen("completion queue", queue.number());
  }

  private HcaException notOpen(String what, int number) {
    return new HcaException(
        "%s 0x%x is not an open one of %s; create it there".formatted(what, number, hca.name()),
        Errno.EINVAL);
  }

  private static void release(@Nullable Memory... memories) {
    for (Memory memory : memories) {
      if (memory != null) {
        memory.close();
      }
    }
  }

  private SoftCompletionQueue requireQueue(String role, CompletionQueue queue) {
    if (queue instanceof SoftCompletionQueue soft
        && objects.completionQueues.find(queue.number()) == soft) {
      return soft;
    }
    throw notOpen("the %s completion queue".formatted(role), queue.number());
  }

  private SoftSharedReceiveQueue requireShared(SharedReceiveQueue queue) {
    if (queue instanceof SoftSharedReceiveQueue soft
        && objects.sharedReceiveQueues.find(queue.number()) == soft) {
      return soft;
    }
    throw notOpen("the shared receive queue", queue.number());
  }

  private static void requireSize(String what, int size, int smallest, int largest) {
    if (Integer.bitCount(size) != 1 || size < smallest || size > largest) {
      throw new HcaException(
          "%s: %d; must be a power of two from %d to %d".formatted(what, size, smallest, largest),
          Errno.EINVAL);
    }
  }

  private static void requirePlace(String what, MemoryKind kind) {
    if (kind != MemoryKind.DEVICE && kind != MemoryKind.HOST) {
      throw new HcaException(
          "the %s cannot lie in %s memory; place it in gpu or host memory"
              .formatted(what, kind.word()),
          Errno.EINVAL);
    }
  }

  private void requireOpen(String what) {
    if (isClosed) {
      throw new HcaException("cannot " + what + ": the protection domain is closed");
    }
  }

  @Override
  public void closing(Owned object) {
    switch (object) {
      case SoftMemoryRegion region -> objects.regions.remove(region);
      case SoftCompletionQueue queue -> objects.completionQueues.remove(queue.number());
      case SoftSharedReceiveQueue queue -> objects.sharedReceiveQueues.remove(queue.number());
      case ScheduledQueuePair queuePair -> objects.queuePairs.remove(queuePair.number);
      case EfaCompletionQueue queue -> objects.completionQueues.remove(queue.number());
      case ForeignQueuePair queuePair -> {}
      case OnChipMemory memory -> free(memory);
      default -> throw new IllegalArgumentException(object.toString());
    }
    open.remove(object);
  }

  private void free(OnChipMemory memory) {
    for (Owned object : open) {
      if (object instanceof SoftMemoryRegion region
          && region.covers(memory.address(), memory.size())) {
        throw new HcaException(
            "cannot free %s: %s is still open; close it first".formatted(memory, region),
            Errno.EBUSY);
      }
    }
    objects.onChip.free(memory.allocation());
  }

  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    if (!open.isEmpty()) {
      List<String> names = new ArrayList<>();
      for (Owned object : open) {
        if (names.size() == NAMED_IN_MESSAGE) {
          names.add("and %d more".formatted(open.size() - NAMED_IN_MESSAGE));
          break;
        }
        names.add(object.toString());
      }
      throw new HcaException(
          "cannot close the protection domain of %s: still open are %s; close them first"
              .formatted(hca.name(), String.join(", ", names)),
          Errno.EBUSY);
    }
    isClosed = true;
    closed.accept(this);
  }

  void closeAll() {
    for (Class<? extends Owned> type : CLOSING) {
      List.copyOf(open).reversed().stream().filter(type::isInstance).forEach(Owned::close);
    }
    close();
  }
}
