package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.generated.verbs.Verbs;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A protection domain with its memory regions and queues, which firmware commands create. */
public class DevxDomain implements ProtectionDomain {
  /** The send ring follows the receive ring and begins at a multiple of a block. */
  private static final int SMALLEST_RECEIVE_RING = SendQueue.BLOCK / ReceiveSegment.BYTES;

  private static final int NAMED_IN_MESSAGE = 4;

  /** {@code IBV_ACCESS_MW_BIND}. */
  private static final int WINDOW_BIND = 1 << 4;

  private static final Failure ALLOCATE =
      Failure.of("allocate a protection domain", "the device may have no more; close others");
  private static final Failure CLOSE =
      Failure.of(
          "close a protection domain", "this is a fault in Doorbell: something is still open");

  final DeviceContext context;
  final MemorySegment pd;
  private final Hca hca;
  private final DevxDevice device;
  private final HcaAttributes limits;
  private final Consumer<DevxDomain> onClose;
  private final Set<AutoCloseable> open = new LinkedHashSet<>();
  private boolean closed;

  /**
   * @param onClose called once, when the domain has been closed
   */
  public DevxDomain(Hca hca, DevxDevice device, Consumer<DevxDomain> onClose) {
    this.device = device;
    this.limits = hca.attributes();
    this.hca = hca;
    this.context = device.context;
    this.onClose = onClose;
    this.pd = VerbsFunctions.ALLOC_PD.pointer(ALLOCATE, context.context);
  }

  @Override
  public Hca hca() {
    return hca;
  }

  @Override
  public MemoryRegion register(Memory memory, long offset, long length, Set<AccessRight> rights) {
    requireOpen("register memory");
    boolean writes =
        rights.contains(AccessRight.REMOTE_WRITE) || rights.contains(AccessRight.REMOTE_ATOMIC);
    if (writes && !rights.contains(AccessRight.LOCAL_WRITE)) {
      throw new HcaException(
          "cannot register memory with %s: REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE"
              .formatted(rights),
          Errno.EINVAL);
    }
    if (offset < 0 || length <= 0 || offset > memory.size() - length) {
      throw new HcaException(
          "cannot register [%d, %d) of a memory of %d bytes: the range must lie inside and not be empty"
              .formatted(offset, offset + length, memory.size()),
          Errno.EINVAL);
    }
    VerbsRegion region = VerbsRegion.register(this, memory, offset, length, rights);
    open.add(region);
    return region;
  }

  @Override
  public Memory allocateOnChip(long bytes) {
    requireOpen("allocate on-chip memory");
    OnChip memory = OnChip.allocate(device, bytes, this::closed);
    open.add(memory);
    return memory;
  }

  @Override
  public CompletionQueue createCompletionQueue(
      CompletionQueueAttributes attributes, MemoryProvider memory) {
    requireOpen("create a completion queue");
    requireSize("completion queue entries", attributes.entries(), 1, limits.maxCompletionEntries());
    requirePlace("completion ring", attributes.ringIn());
    requirePlace("completion record", attributes.recordIn());
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
      open.add(queue);
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
    requireLegal(attributes);
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
    throw new HcaException(
        "the %s completion queue 0x%x is not an open one of %s; create it there"
            .formatted(role, queue.number(), context.name),
        Errno.EINVAL);
  }

  /** Refuses queue pairs that no device of this module has. */
  private void requireLegal(QueuePairAttributes attributes) {
    requireOpen("create a queue pair");
    int largest = limits.maxSendBlocks();
    requireSize("send blocks", attributes.sendBlocks(), limits.minSendBlocks(), largest);
    requirePlace("send and receive rings", attributes.ringIn());
    requirePlace("doorbell record", attributes.recordIn());
    int entries = attributes.receiveEntries();
    if (entries != 0) {
      requireSize("receive entries", entries, SMALLEST_RECEIVE_RING, largest);
      if (attributes.receiveQueue() == null) {
        throw new HcaException(
            "a queue pair with %d receive entries needs a completion queue for receives"
                .formatted(entries),
            Errno.EINVAL);
      }
    }
    if (attributes.transport() != Transport.RC || attributes.sharedReceives() != null) {
      throw new HcaException(
          "%s: this back end has reliable connections with receives of their own alone; use the software HCA for others"
              .formatted(context.name),
          Errno.EOPNOTSUPP);
    }
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(
      SharedReceiveQueueAttributes attributes, MemoryProvider memory) {
    throw new HcaException(
        "%s: this back end has no shared receive queues; give every queue pair receives of its own, or use the software HCA"
            .formatted(context.name),
        Errno.EOPNOTSUPP);
  }

  @Override
  public AddressHandle createAddressHandle(String hca, int trafficClass) {
    throw new HcaException(
        "%s: this back end has no datagrams to '%s'; connect, or use the software HCA"
            .formatted(context.name, hca),
        Errno.EOPNOTSUPP);
  }

  /** The {@code IBV_ACCESS_*} bits. */
  public static int accessBits(Set<AccessRight> rights) {
    int bits = 0;
    for (AccessRight right : rights) {
      bits |=
          switch (right) {
            case LOCAL_WRITE -> Verbs.IBV_ACCESS_LOCAL_WRITE();
            case REMOTE_WRITE -> Verbs.IBV_ACCESS_REMOTE_WRITE();
            case REMOTE_READ -> Verbs.IBV_ACCESS_REMOTE_READ();
            case REMOTE_ATOMIC -> Verbs.IBV_ACCESS_REMOTE_ATOMIC();
            case RELAXED_ORDERING -> Verbs.IBV_ACCESS_RELAXED_ORDERING();
            case WINDOW_BIND -> WINDOW_BIND;
            // A region of libibverbs is strict unless it is relaxed.
            case STRICT_ORDERING -> 0;
          };
    }
    return bits;
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
    if (closed) {
      throw new HcaException("cannot " + what + ": the protection domain is closed");
    }
  }

  /** Removes an object that has been closed. */
  void closed(AutoCloseable object) {
    open.remove(object);
  }

  /** Closes what is open: queue pairs, then their completion queues, then the rest. */
  public void closeAll() {
    for (Class<? extends AutoCloseable> type :
        List.of(QueuePair.class, CompletionQueue.class, MemoryRegion.class, AutoCloseable.class)) {
      List<AutoCloseable> objects = new ArrayList<>(open);
      for (int i = objects.size() - 1; i >= 0; i--) {
        if (type.isInstance(objects.get(i))) {
          closeOne(objects.get(i));
        }
      }
    }
    close();
  }

  private static void closeOne(AutoCloseable object) {
    switch (object) {
      case QueuePair queuePair -> queuePair.close();
      case CompletionQueue queue -> queue.close();
      case MemoryRegion region -> region.close();
      case Memory memory -> memory.close();
      default -> throw new IllegalStateException(object.toString());
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (!open.isEmpty()) {
      List<String> names = new ArrayList<>();
      for (AutoCloseable object : open) {
        if (names.size() == NAMED_IN_MESSAGE) {
          names.add("and %d more".formatted(open.size() - NAMED_IN_MESSAGE));
          break;
        }
        names.add(object.toString());
      }
      throw new HcaException(
          "cannot close the protection domain of %s: still open are %s; close them first"
              .formatted(context.name, String.join(", ", names)),
          Errno.EBUSY);
    }
    closed = true;
    VerbsFunctions.DEALLOC_PD.require(CLOSE, pd);
    onClose.accept(this);
  }
}
