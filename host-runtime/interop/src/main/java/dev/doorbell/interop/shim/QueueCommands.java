package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.interop.shim.ClientProcess.Lease;
import dev.doorbell.softhca.DriverAccess;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Completion queues, queue pairs and shared receive queues of libmlx5, and their channels. */
final class QueueCommands {
  private static final int MOST_SHIFT = 15;
  private static final int SEGMENT = 16;

  // enum ib_uverbs_qp_type
  private static final int RC = 2;
  private static final int UC = 3;
  private static final int UD = 4;

  // struct mlx5_ib_create_qp: flags that change nothing here, scatter to CQE among them
  private static final int SIGNATURE = 1;
  private static final int SCATTER_CQE = 1 << 1;
  private static final int ALLOW_SCATTER_CQE = 1 << 8;
  private static final int UAR_PAGE_INDEX = 1 << 10;

  // enum ib_uverbs_qp_create_flags
  private static final int SIGNAL_ALL = 1 << 12;

  private QueueCommands() {}

  static void createChannel(Command command) throws Refusal {
    Resource.Channel channel = command.context().addChannel();
    command.out(Abi.CORE_OUT, new Struct(4));
    command.then(
        Action.events(channel.events.token(), command.pointer(Abi.CORE_OUT), Integer.BYTES));
  }

  static void openAsync(Command command) throws Refusal {
    EventQueue events = command.context().openAsync();
    command.then(
        Action.events(
            events.token(),
            command.descriptorAddress(Abi.ASYNC_EVENT_ALLOC_FD_HANDLE),
            Long.BYTES));
  }

  static void createCq(Command command) throws Refusal, NeedsPages {
    // struct mlx5_ib_create_cq
    Struct in = command.in(Abi.UHW_IN, 20);
    int wanted = command.in32(Abi.CREATE_CQ_CQE);
    int entrySize = in.u32(16);
    Context context = command.context();
    int most = context.device().hca().attributes().maxCompletionEntries();
    boolean compressed = in.size() > 20 && in.u8(20) != 0;
    if (wanted < 1
        || wanted >= most
        || entrySize != Cqe.BYTES
        || compressed
        || command.in32(Abi.CREATE_CQ_COMP_VECTOR, 0) != 0) {
      throw new Refusal(Errno.EINVAL);
    }
    int entries = Integer.highestOneBit(wanted) << 1;
    Resource.Channel channel =
        command.has(Abi.CREATE_CQ_COMP_CHANNEL)
            ? context.channel(command.handle(Abi.CREATE_CQ_COMP_CHANNEL))
            : null;
    Resource.Cq cq =
        createCq(
            context,
            new CompletionQueueAttributes(entries, false, false, MemoryKind.HOST, MemoryKind.HOST),
            in.u64(0),
            in.u64(8),
            command.in64(Abi.CREATE_CQ_USER_HANDLE),
            channel);
    command.out(Abi.UHW_OUT, new Struct(8).u32(0, cq.queue.number()));
    command.out32(Abi.CREATE_CQ_RESP_CQE, entries - 1);
    command.outHandle(Abi.CREATE_CQ_HANDLE, context.add(cq));
  }

  /** Makes a completion queue in memory of the program. */
  static Resource.Cq createCq(
      Context context,
      CompletionQueueAttributes attributes,
      long ring,
      long record,
      long userHandle,
      Resource.@Nullable Channel channel)
      throws Refusal, NeedsPages {
    long bytes = (long) attributes.entries() * Cqe.BYTES;
    requireAligned(ring, Cqe.BYTES);
    requireAligned(record, DoorbellRecord.BYTES);
    context.requireShared(ring, bytes);
    context.requireShared(record, DoorbellRecord.BYTES);
    try (Leases leases = new Leases(context)) {
      var memory =
          LeasedMemory.inOrder(leases.add(ring, bytes), leases.add(record, DoorbellRecord.BYTES));
      CompletionChannel tells = userHandle == Resource.DEVX ? context.devxCompletions() : null;
      if (channel != null) {
        tells = channel.channel;
      }
      CompletionQueue queue =
          tells == null
              ? context.queues().createCompletionQueue(attributes, memory)
              : context.queues().createCompletionQueue(attributes, memory, tells);
      Lease[] kept = leases.keep();
      Resource.Cq cq = new Resource.Cq(queue, userHandle, channel, kept[0], kept[1]);
      Context.disarm(cq);
      return cq;
    }
  }

  /** {@code struct ib_uverbs_resize_cq} and {@code struct mlx5_ib_resize_cq}. */
  static void resizeCq(Command command) throws Refusal, NeedsPages {
    Struct in = command.in(Abi.CORE_IN, 16);
    Struct driver = command.in(Abi.UHW_IN, 16);
    Context context = command.context();
    Resource.Cq cq = context.find(Resource.Cq.class, in.u32(8));
    int wanted = in.u32(12);
    if (wanted < 1
        || wanted >= context.device().hca().attributes().maxCompletionEntries()
        || driver.u16(8) != Cqe.BYTES
        || driver.u16(10) != 0
        || driver.u32(12) != 0) {
      throw new Refusal(Errno.EINVAL);
    }
    int entries = Integer.highestOneBit(wanted) << 1;
    long ring = driver.u64(0);
    long bytes = (long) entries * Cqe.BYTES;
    requireAligned(ring, Cqe.BYTES);
    context.requireShared(ring, bytes);
    try (Leases leases = new Leases(context)) {
      DriverAccess.resize(cq.queue, entries, leases.add(ring, bytes));
      cq.replaceRing(leases.keep()[0]);
    }
    // struct ib_uverbs_resize_cq_resp
    command.out(Abi.CORE_OUT, new Struct(8).u32(0, entries - 1));
  }

  static void requireAligned(long address, int alignment) throws Refusal {
    if ((address & (alignment - 1)) != 0) {
      throw new Refusal(Errno.EINVAL);
    }
  }

  /** Mappings that end unless an object has taken them over. */
  static final class Leases implements AutoCloseable {
    private final Context context;
    private final List<Lease> leases = new ArrayList<>();

    Leases(Context context) {
      this.context = context;
    }

    LeasedMemory add(long start, long bytes) throws Refusal {
      Lease lease = context.lease(start, bytes);
      leases.add(lease);
      return new LeasedMemory(lease.address(), bytes);
    }

    /** They belong to somebody else now. */
    Lease[] keep() {
      Lease[] kept = leases.toArray(Lease[]::new);
      leases.clear();
      return kept;
    }

    @Override
    public void close() {
      leases.forEach(Lease::close);
    }
  }

  static void destroyCq(Command command) throws Refusal {
    Context context = command.context();
    int handle = command.handle(Abi.DESTROY_HANDLE);
    Resource.Cq cq = context.find(Resource.Cq.class, handle);
    context.remove(handle);
    context.tellCompletions();
    // struct ib_uverbs_destroy_cq_resp
    command.out(Abi.DESTROY_RESP, new Struct(8).u32(0, cq.completionEvents).u32(4, cq.asyncEvents));
    if (cq.channel != null && cq.completionEvents > 0) {
      drain(command, cq.channel.events, command.pointer(Abi.DESTROY_RESP), cq.userHandle);
    }
    drainAsync(command, cq.asyncEvents, 4, cq.userHandle);
  }

  private static void drainAsync(Command command, int events, int at, long userHandle)
      throws Refusal {
    EventQueue async = command.context().async();
    if (events > 0 && async != null) {
      drain(command, async, command.pointer(Abi.DESTROY_RESP) + at, userHandle);
    }
  }

  private static void drain(Command command, EventQueue events, long at, long element) {
    command.then(Action.drain(events.token(), at, events.recordBytes(), element));
  }

  static void createQp(Command command) throws Refusal, NeedsPages {
    // struct mlx5_ib_create_qp
    Struct in = command.in(Abi.UHW_IN, 40);
    Context context = command.context();
    Resource.Pd pd = context.find(Resource.Pd.class, command.handle(Abi.CREATE_QP_PD_HANDLE));
    Transport transport =
        switch (command.in32(Abi.CREATE_QP_TYPE)) {
          case RC -> Transport.RC;
          case UC -> Transport.UC;
          case UD -> Transport.UD;
          default -> throw new Refusal(Errno.EOPNOTSUPP);
        };
    int flags = in.u32(28);
    int createFlags = command.in32(Abi.CREATE_QP_FLAGS, 0);
    UarPage page = context.page(in.u32(36));
    if ((flags & ~(SCATTER_CQE | ALLOW_SCATTER_CQE | UAR_PAGE_INDEX)) != 0
        || (createFlags & ~SIGNAL_ALL) != 0
        || page == null) {
      throw new Refusal((flags & SIGNATURE) != 0 ? Errno.EOPNOTSUPP : Errno.EINVAL);
    }
    Resource.Cq send =
        context.find(Resource.Cq.class, command.handle(Abi.CREATE_QP_SEND_CQ_HANDLE));
    Resource.Cq receive =
        context.find(Resource.Cq.class, command.handle(Abi.CREATE_QP_RECV_CQ_HANDLE));
    SharedReceiveQueue shared =
        command.has(Abi.CREATE_QP_SRQ_HANDLE)
            ? context.find(Resource.Srq.class, command.handle(Abi.CREATE_QP_SRQ_HANDLE)).queue
            : null;
    QpShape shape =
        new QpShape(in.u64(0), in.u64(8), in.u32(16), shared == null ? in.u32(20) : 0, in.u32(24));
    Resource.Qp qp =
        createQp(
            context,
            pd,
            shape,
            page,
            transport,
            send,
            receive,
            shared,
            command.in64(Abi.CREATE_QP_USER_HANDLE));
    Struct capabilities = command.in(Abi.CREATE_QP_CAP, 20);
    qp.state.capabilities = capabilities;
    qp.state.signalsAll = (createFlags & SIGNAL_ALL) != 0;
    // struct mlx5_ib_create_qp_resp
    command.out(Abi.UHW_OUT, new Struct(40).u32(0, page.number()));
    command.out(Abi.CREATE_QP_RESP_CAP, capabilities);
    command.out32(Abi.CREATE_QP_RESP_QP_NUM, qp.queuePair.number());
    command.outHandle(Abi.CREATE_QP_HANDLE, context.add(qp));
  }

  /**
   * Where the queues of a queue pair lie in the program: receives first, sends behind them.
   *
   * @param sendBlocks 64-byte blocks; 0 for none
   * @param receives receive WQEs; 0 for none
   * @param receiveShift log2 of the bytes of one
   */
  record QpShape(long buffer, long record, int sendBlocks, int receives, int receiveShift) {
    void check(Context context) throws Refusal {
      boolean sends =
          sendBlocks == 0 || (SendQueue.isLegalSize(sendBlocks) && sendBlocks <= 1 << MOST_SHIFT);
      boolean receiving =
          receives == 0
              || (Integer.bitCount(receives) == 1
                  && receives <= 1 << MOST_SHIFT
                  && receiveShift >= 4
                  && receiveShift <= 9);
      if (!sends || !receiving || (sendBlocks == 0 && receives == 0 && buffer == 0)) {
        throw new Refusal(Errno.EINVAL);
      }
      requireAligned(buffer, SendQueue.BLOCK);
      requireAligned(record, DoorbellRecord.BYTES);
      if (context.device().hca().attributes().maxSendBlocks() < sendBlocks) {
        throw new Refusal(Errno.ENOMEM);
      }
    }

    long receiveBytes() {
      return receives == 0 ? 0 : (long) receives << receiveShift;
    }

    long sendBytes() {
      return (long) sendBlocks << SendQueue.BLOCK_SHIFT;
    }
  }

  /** Makes a queue pair in memory of the program. */
  static Resource.Qp createQp(
      Context context,
      Resource.Pd pd,
      QpShape shape,
      UarPage page,
      Transport transport,
      Resource.Cq send,
      Resource.@Nullable Cq receive,
      @Nullable SharedReceiveQueue shared,
      long userHandle)
      throws Refusal, NeedsPages {
    shape.check(context);
    // A queue pair that sends nothing has a block that nobody posts to, in its record's page.
    long sends =
        shape.sendBlocks == 0
            ? shape.record & -SendQueue.BLOCK
            : shape.buffer + shape.receiveBytes();
    int blocks = Math.max(1, shape.sendBlocks);
    long sendBytes = (long) blocks << SendQueue.BLOCK_SHIFT;
    long receiveBytes = shape.receiveBytes();
    context.requireShared(sends, sendBytes);
    if (receiveBytes > 0) {
      context.requireShared(shape.buffer, receiveBytes);
    }
    context.requireShared(shape.record, DoorbellRecord.BYTES);
    try (Leases leases = new Leases(context)) {
      List<LeasedMemory> memory = new ArrayList<>();
      memory.add(leases.add(sends, sendBytes));
      if (receiveBytes > 0) {
        memory.add(leases.add(shape.buffer, receiveBytes));
      }
      memory.add(leases.add(shape.record, DoorbellRecord.BYTES));
      int segments = receiveBytes == 0 ? 1 : (1 << shape.receiveShift) / SEGMENT;
      QueuePair queuePair =
          DriverAccess.createQueuePair(
              pd.domain,
              new QueuePairAttributes(
                  blocks,
                  (int) (receiveBytes / SEGMENT),
                  send.queue,
                  receive == null ? null : receive.queue,
                  MemoryKind.HOST,
                  MemoryKind.HOST,
                  transport,
                  shared),
              segments,
              LeasedMemory.inOrder(memory.toArray(LeasedMemory[]::new)));
      return new Resource.Qp(
          queuePair, new QpState(queuePair, transport), page, userHandle, leases.keep());
    }
  }

  static void destroyQp(Command command) throws Refusal {
    Context context = command.context();
    int handle = command.handle(Abi.DESTROY_HANDLE);
    Resource.Qp qp = context.find(Resource.Qp.class, handle);
    context.remove(handle);
    command.out32(Abi.DESTROY_RESP, qp.asyncEvents);
    drainAsync(command, qp.asyncEvents, 0, qp.userHandle);
  }

  static void createSrq(Command command) throws Refusal, NeedsPages {
    // struct mlx5_ib_create_srq
    Struct in = command.in(Abi.UHW_IN, 16);
    Context context = command.context();
    Resource.Pd pd = context.find(Resource.Pd.class, command.handle(Abi.CREATE_SRQ_PD_HANDLE));
    int wanted = command.in32(Abi.CREATE_SRQ_MAX_WR);
    int segments = command.in32(Abi.CREATE_SRQ_MAX_SGE);
    boolean signature = in.size() >= 20 && (in.u32(16) & SIGNATURE) != 0;
    if (command.in32(Abi.CREATE_SRQ_TYPE) != 0 || signature) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    if (wanted < 0 || wanted >= 1 << MOST_SHIFT || segments < 0 || segments > 31) {
      throw new Refusal(Errno.EINVAL);
    }
    // As mlx5_ib computes it: one WQE more than asked for, each a power of two from 32 bytes on.
    int entries = Integer.highestOneBit(Math.max(wanted, 1)) << 1;
    int stride = powerOfTwo(Math.max(32, SEGMENT * (segments + 1)));
    Resource.Srq srq =
        createSrq(
            context,
            pd,
            new SrqShape(in.u64(0), in.u64(8), entries, stride),
            command.in64(Abi.CREATE_SRQ_USER_HANDLE));
    command.out(Abi.UHW_OUT, new Struct(8).u32(0, srq.queue.number()));
    command.out32(Abi.CREATE_SRQ_RESP_MAX_WR, entries - 1);
    command.out32(Abi.CREATE_SRQ_RESP_MAX_SGE, stride / SEGMENT - 1);
    command.out32(Abi.CREATE_SRQ_RESP_SRQ_NUM, srq.queue.number());
    command.outHandle(Abi.CREATE_SRQ_HANDLE, context.add(srq));
  }

  /**
   * Where a shared receive queue lies in the program.
   *
   * @param stride bytes of a WQE
   */
  record SrqShape(long ring, long record, int entries, int stride) {}

  /** Makes a shared receive queue in memory of the program. */
  static Resource.Srq createSrq(Context context, Resource.Pd pd, SrqShape shape, long userHandle)
      throws Refusal, NeedsPages {
    long bytes = (long) shape.entries * shape.stride;
    requireAligned(shape.ring, shape.stride);
    requireAligned(shape.record, DoorbellRecord.BYTES);
    context.requireShared(shape.ring, bytes);
    context.requireShared(shape.record, DoorbellRecord.BYTES);
    try (Leases leases = new Leases(context)) {
      SharedReceiveQueue queue =
          pd.domain.createSharedReceiveQueue(
              new SharedReceiveQueueAttributes(
                  shape.entries, shape.stride / SEGMENT - 1, MemoryKind.HOST, MemoryKind.HOST),
              LeasedMemory.inOrder(
                  leases.add(shape.ring, bytes), leases.add(shape.record, DoorbellRecord.BYTES)));
      return new Resource.Srq(queue, userHandle, shape.entries, leases.keep());
    }
  }

  private static int powerOfTwo(int least) {
    int down = Integer.highestOneBit(least);
    return down == least ? down : down << 1;
  }

  static void destroySrq(Command command) throws Refusal {
    Context context = command.context();
    int handle = command.handle(Abi.DESTROY_HANDLE);
    Resource.Srq srq = context.find(Resource.Srq.class, handle);
    context.remove(handle);
    command.out32(Abi.DESTROY_RESP, srq.asyncEvents);
    drainAsync(command, srq.asyncEvents, 0, srq.userHandle);
  }

  /** {@code struct ib_uverbs_modify_srq}: the limit alone. */
  static void modifySrq(Command command) throws Refusal {
    Struct in = command.in(Abi.CORE_IN, 16);
    Resource.Srq srq = command.context().find(Resource.Srq.class, in.u32(0));
    if (in.u32(4) != 1 << 1) {
      throw new Refusal(Errno.EINVAL);
    }
    srq.queue.armLimit(in.u32(12));
    srq.limit = in.u32(12);
  }

  /** {@code struct ib_uverbs_query_srq}. */
  static void querySrq(Command command) throws Refusal {
    Resource.Srq srq =
        command.context().find(Resource.Srq.class, command.in(Abi.CORE_IN, 12).u32(8));
    command.out(
        Abi.CORE_OUT,
        new Struct(16)
            .u32(0, srq.entries - 1)
            .u32(4, srq.queue.attributes().segments())
            .u32(8, srq.limit));
  }
}
