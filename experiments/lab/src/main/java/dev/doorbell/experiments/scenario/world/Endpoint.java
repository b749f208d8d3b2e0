package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DeviceQueue;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.SignalOrder;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.QueuePairView;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: a queue pair, its completion queue, the counters and the error record
 * that kernels share, and the view of it all that is written for them.
 */
public final class Endpoint implements AutoCloseable {
  /** Everything that a peer may do. */
  public static final Set<AccessRight> ALL_RIGHTS =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);

  private static final int SEND_COUNTER = Integer.BYTES;

  /** Flags of queues that are mlx5's, which others have no use for. */
  private static final int MLX5_FLAGS =
      QueuePairView.FLAG_CQ_COLLAPSED
          | QueuePairView.FLAG_RECORD_LAST
          | QueuePairView.FLAG_BLUEFLAME
          | QueuePairView.FLAG_EXCLUSIVE;

  /**
   * Shape of an endpoint.
   *
   * @param blocks send ring in 64-byte blocks
   * @param collapsed one completion entry, always overwritten
   * @param flags of {@link QueuePairView}
   * @param batch posters ring at the latest when this many blocks wait
   * @param deadlineNanos every device-side wait ends after that
   * @param order means that order signals behind data; null: those that the HCA's promises ask for
   */
  public record Shape(
      int blocks,
      int completionEntries,
      boolean collapsed,
      Placement placement,
      int flags,
      int batch,
      long deadlineNanos,
      @Nullable SignalOrder order) {
    /**
     * A shape with rings in GPU memory for several posters, each of which rings at every post.
     *
     * @param blocks send ring in 64-byte blocks; the completion ring has as many entries
     * @param deadlineNanos every device-side wait ends after that
     */
    public static Builder builder(int blocks, long deadlineNanos) {
      return new Builder(blocks, deadlineNanos);
    }

    /** The rights of memory that peers signal in, where data has {@code rights}. */
    public Set<AccessRight> signalRights(Set<AccessRight> rights) {
      if (order == null || !order.strictKeys()) {
        return rights;
      }
      Set<AccessRight> strict = EnumSet.copyOf(rights);
      strict.remove(AccessRight.RELAXED_ORDERING);
      strict.add(AccessRight.STRICT_ORDERING);
      return strict;
    }
  }

  /** Builds a shape. */
  public static final class Builder {
    private final int blocks;
    private final long deadlineNanos;
    private int completionEntries;
    private boolean collapsed;
    private Placement placement = Placement.GPU;
    private int flags;
    private int batch = 1;
    private @Nullable SignalOrder order;

    private Builder(int blocks, long deadlineNanos) {
      this.blocks = blocks;
      this.completionEntries = blocks;
      this.deadlineNanos = deadlineNanos;
    }

    public Builder completionEntries(int count) {
      completionEntries = count;
      return this;
    }

    /** One completion entry, always overwritten. */
    public Builder collapsed(boolean yes) {
      collapsed = yes;
      return this;
    }

    public Builder placement(Placement where) {
      placement = where;
      return this;
    }

    /** Kernels post through the BlueFlame register where a WQE fits. */
    public Builder blueFlame(boolean yes) {
      return flag(QueuePairView.FLAG_BLUEFLAME, yes);
    }

    /** The doorbell is rung before the record is written, and once more after it. */
    public Builder recordLast(boolean yes) {
      return flag(QueuePairView.FLAG_RECORD_LAST, yes);
    }

    /** One thread posts. */
    public Builder exclusive(boolean yes) {
      return flag(QueuePairView.FLAG_EXCLUSIVE, yes);
    }

    /** Sets a flag of {@link QueuePairView}. */
    public Builder flag(int flag, boolean yes) {
      flags = yes ? flags | flag : flags & ~flag;
      return this;
    }

    /** Posters ring at the latest when this many blocks wait. */
    public Builder batch(int most) {
      batch = most;
      return this;
    }

    /**
     * Sets the means that order signals behind data; null: those that the HCA's promises ask for.
     */
    public Builder order(@Nullable SignalOrder by) {
      order = by;
      return this;
    }

    public Shape build() {
      return new Shape(
          blocks, completionEntries, collapsed, placement, flags, batch, deadlineNanos, order);
    }
  }

  private final Rank rank;
  private final Shape shape;
  private final int index;
  private final CompletionQueue completions;
  private final QueuePair queuePair;
  private final Memory counters;
  private final Memory error;
  private final long doorbell;

  /** Descriptor that kernels need beside the view where work requests are not mlx5's. */
  private final @Nullable Memory descriptor;

  private long commands;
  private long ringRequest;
  private @Nullable String relayed;

  private Endpoint(Rank rank, Shape shape, int index, Transport transport, MemoryProvider memory) {
    this.rank = rank;
    this.shape = shape;
    this.index = index;
    Gpu gpu = rank.gpu();
    Placement placement = shape.placement;
    boolean mlx5 = rank.hca().promises().queues() == Promise.Queues.MLX5;
    boolean collapsed = shape.collapsed && mlx5;
    int entries = mlx5 ? shape.completionEntries : Math.max(shape.completionEntries, shape.blocks);
    this.completions =
        rank.domain()
            .createCompletionQueue(
                new CompletionQueueAttributes(
                    collapsed ? 1 : entries,
                    collapsed,
                    true,
                    placement.completionRing(),
                    placement.record()),
                memory);
    this.queuePair =
        rank.domain()
            .createQueuePair(
                new QueuePairAttributes(
                    shape.blocks,
                    0,
                    completions,
                    null,
                    placement.sendRing(),
                    placement.record(),
                    transport,
                    null),
                memory);
    this.counters = memory.allocate(MemoryKind.DEVICE, Abi.countersBytes(shape.blocks), "counters");
    this.error = memory.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    this.doorbell = mapDoorbell(gpu);
    this.descriptor =
        mlx5 ? null : gpu.allocate(MemoryKind.DEVICE, QueuePairView.BYTES, "descriptor of queues");
  }

  /**
   * Maps the doorbell for kernels: the device's own register where a real GPU may map it, else a
   * page that a CPU thread relays to it.
   */
  private long mapDoorbell(Gpu gpu) {
    long bytes = Math.max(Long.BYTES, 2L * queuePair.blueFlameBytes());
    boolean direct =
        !gpu.attributes().emulated()
            && queuePair.deviceRegisterAddress() != queuePair.doorbellAddress();
    if (direct) {
      try {
        return gpu.mapDeviceRegisters(queuePair.deviceRegisterAddress(), bytes);
      } catch (GpuException e) {
        relayed = "doorbells are relayed by the CPU: " + e.getMessage();
      }
    }
    return gpu.mapDeviceRegisters(queuePair.doorbellAddress(), bytes);
  }

  /** Why kernels do not reach the device's register, or null where they do. */
  public @Nullable String relayed() {
    return relayed;
  }

  /** Creates an endpoint; {@code index} is its place among the queue pairs of a job. */
  static Endpoint open(Rank rank, Shape shape, int index, MemoryProvider memory) {
    return new Endpoint(rank, shape, index, Transport.RC, memory);
  }

  /** Opens an initiator of dynamic connections, which is ready to send. */
  static Endpoint openInitiator(Rank rank, Shape shape, int index) {
    Endpoint endpoint = new Endpoint(rank, shape, index, Transport.DC, rank.gpu());
    endpoint.queuePair.toInit(ALL_RIGHTS);
    endpoint.queuePair.toRtr(ConnectionAttributes.DEFAULT);
    endpoint.queuePair.toRts(ConnectionAttributes.DEFAULT);
    return endpoint;
  }

  /** Connects two endpoints to each other. */
  public static void connect(Endpoint a, Endpoint b) {
    a.connect(b.queuePair.address());
    b.connect(a.queuePair.address());
  }

  void connect(QueuePairAddress peer) {
    queuePair.connect(peer, ALL_RIGHTS, ConnectionAttributes.DEFAULT);
  }

  /** From now on kernels hand commands to the queue whose descriptor lies at {@code descriptor}. */
  public void useCommandQueue(long descriptor) {
    commands = descriptor;
  }

  /** From now on kernels raise the word at {@code address} and the CPU rings. */
  public void useCpuRinger(long address) {
    ringRequest = address;
  }

  Shape shape() {
    return shape;
  }

  /** Its place among the queue pairs of its rank. */
  public int index() {
    return index;
  }

  public QueuePair queuePair() {
    return queuePair;
  }

  /** Address of the doorbell register, as kernels use it. */
  public long doorbell() {
    return doorbell;
  }

  public CompletionQueue completions() {
    return completions;
  }

  /** Blocks that kernels have reserved so far. */
  public long reservedBlocks() {
    return counters.getLong(QueuePairView.COUNTERS_RESERVED) >>> QueuePairView.RESERVED_SHIFT;
  }

  /** Blocks that kernels have found completed so far. */
  public long completedBlocks() {
    return Abi.completedBlocks(counters);
  }

  /** The first error that a kernel or the proxy left. */
  public ErrorRecord error() {
    return ErrorRecord.decode(error.getBytes(0, ErrorRecord.BYTES));
  }

  /** The rights of memory that peers signal in, where data has {@code rights}. */
  public Set<AccessRight> signalRights(Set<AccessRight> rights) {
    return shape.signalRights(rights);
  }

  private static int flag(Promise.Queues kind) {
    return switch (kind) {
      case MLX5 -> 0;
      case EFA -> QueuePairView.FLAG_EFA;
    };
  }

  /** The view that kernels get. */
  public QueuePairView view() {
    int flags = shape.flags;
    flags |= shape.collapsed ? QueuePairView.FLAG_CQ_COLLAPSED : 0;
    flags |= shape.placement.touchesHost() ? QueuePairView.FLAG_SCOPE_SYSTEM : 0;
    flags |= commands != 0 ? QueuePairView.FLAG_PROXY : 0;
    flags |= ringRequest != 0 ? QueuePairView.FLAG_CPU_RUNG : 0;
    Promises promises = rank.hca().promises();
    flags |= shape.order == null ? SignalOrder.flagsOf(promises) : shape.order.flags();
    flags |= SignalOrder.quietFlags(promises);
    DeviceQueue queue = queuePair.deviceQueue();
    int maxInline = rank.hca().attributes().maxInlineBytes();
    if (queue != null && descriptor != null) {
      descriptor.putBytes(0, queue.descriptor());
      flags = (flags & ~MLX5_FLAGS) | flag(queue.kind());
      maxInline = queue.maxInline();
    }
    return new QueuePairView(
        queuePair.sendRingAddress(),
        queuePair.recordAddress() + SEND_COUNTER,
        doorbell,
        completions.ringAddress(),
        completions.recordAddress(),
        counters.address(),
        error.address(),
        descriptor == null ? commands : descriptor.address(),
        ringRequest,
        shape.deadlineNanos,
        shape.blocks,
        completions.attributes().entries(),
        queuePair.number(),
        flags,
        queuePair.blueFlameBytes(),
        shape.batch,
        maxInline,
        index);
  }

  @Override
  public void close() {
    queuePair.close();
    completions.close();
    if (descriptor != null) {
      descriptor.close();
    }
    error.close();
    counters.close();
  }
}
