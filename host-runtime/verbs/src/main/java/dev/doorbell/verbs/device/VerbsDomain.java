package dev.doorbell.verbs.device;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.verbs.generated.verbs.Verbs;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A protection domain with its memory regions and open objects; subclasses create the queues. */
public abstract class VerbsDomain implements ProtectionDomain {
  private static final int NAMED_IN_MESSAGE = 4;

  /** {@code IBV_ACCESS_MW_BIND}. */
  private static final int WINDOW_BIND = 1 << 4;

  private static final Failure ALLOCATE =
      Failure.of("allocate a protection domain", "the device may have no more; close others");
  private static final Failure CLOSE =
      Failure.of(
          "close a protection domain", "this is a fault in Doorbell: something is still open");

  public final DeviceContext context;
  public final MemorySegment pd;
  private final Hca hca;
  private final Consumer<VerbsDomain> onClose;
  private final Set<AutoCloseable> open = new LinkedHashSet<>();
  private boolean closed;

  /**
   * @param onClose called once, when the domain has been closed
   */
  public VerbsDomain(Hca hca, DeviceContext context, Consumer<VerbsDomain> onClose) {
    this.hca = hca;
    this.context = context;
    this.onClose = onClose;
    this.pd = VerbsFunctions.ALLOC_PD.pointer(ALLOCATE, context.context);
  }

  @Override
  public final Hca hca() {
    return hca;
  }

  @Override
  public final MemoryRegion register(
      Memory memory, long offset, long length, Set<AccessRight> rights) {
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

  protected final void requireLegal(CompletionQueueAttributes attributes, int largest) {
    requireOpen("create a completion queue");
    requireSize("completion queue entries", attributes.entries(), 1, largest);
    requirePlace("completion ring", attributes.ringIn());
    requirePlace("completion record", attributes.recordIn());
  }

  /**
   * Refuses queue pairs that no device of this module has.
   *
   * @param smallest send blocks
   * @param smallestReceives entries, if there are any
   * @param largest of both
   */
  protected final void requireLegal(
      QueuePairAttributes attributes, int smallest, int smallestReceives, int largest) {
    requireOpen("create a queue pair");
    requireSize("send blocks", attributes.sendBlocks(), smallest, largest);
    requirePlace("send and receive rings", attributes.ringIn());
    requirePlace("doorbell record", attributes.recordIn());
    int entries = attributes.receiveEntries();
    if (entries != 0) {
      requireSize("receive entries", entries, smallestReceives, largest);
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

  /** The exception for a completion queue that was closed, or belongs to another device. */
  protected final HcaException notOpen(String role, CompletionQueue queue) {
    return new HcaException(
        "the %s completion queue 0x%x is not an open one of %s; create it there"
            .formatted(role, queue.number(), context.name),
        Errno.EINVAL);
  }

  @Override
  public Memory allocateOnChip(long bytes) {
    throw new HcaException(
        "%s cannot allocate %d bytes of on-chip memory: 0 of 0 bytes are free; use host or gpu memory"
            .formatted(context.name, bytes),
        Errno.EOPNOTSUPP);
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

  protected static void requireSize(String what, int size, int smallest, int largest) {
    if (Integer.bitCount(size) != 1 || size < smallest || size > largest) {
      throw new HcaException(
          "%s: %d; must be a power of two from %d to %d".formatted(what, size, smallest, largest),
          Errno.EINVAL);
    }
  }

  protected static void requirePlace(String what, MemoryKind kind) {
    if (kind != MemoryKind.DEVICE && kind != MemoryKind.HOST) {
      throw new HcaException(
          "the %s cannot lie in %s memory; place it in gpu or host memory"
              .formatted(what, kind.word()),
          Errno.EINVAL);
    }
  }

  /** Frees what was allocated for a queue that could not be created. */
  protected static void release(@Nullable Memory... memories) {
    for (Memory memory : memories) {
      if (memory != null) {
        memory.close();
      }
    }
  }

  protected final void requireOpen(String what) {
    if (closed) {
      throw new HcaException("cannot " + what + ": the protection domain is closed");
    }
  }

  /** Adds an object, which has to be closed before the domain. */
  protected final void opened(AutoCloseable object) {
    open.add(object);
  }

  /** Removes an object that has been closed. */
  public void closed(AutoCloseable object) {
    open.remove(object);
  }

  /** Closes what is open: queue pairs, then their completion queues, then the rest. */
  public final void closeAll() {
    for (Class<? extends AutoCloseable> type :
        List.of(
            dev.doorbell.core.hca.QueuePair.class,
            CompletionQueue.class,
            MemoryRegion.class,
            AutoCloseable.class)) {
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
      case dev.doorbell.core.hca.QueuePair queuePair -> queuePair.close();
      case CompletionQueue queue -> queue.close();
      case MemoryRegion region -> region.close();
      case Memory memory -> memory.close();
      default -> throw new IllegalStateException(object.toString());
    }
  }

  @Override
  public final void close() {
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
