package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.GpuRange;
import dev.doorbell.interop.shim.client.Lease;
import dev.doorbell.interop.shim.client.LeasedMemory;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.EventStream;
import dev.doorbell.interop.shim.object.QueuePairControl;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.UarPage;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Creates queues of the software HCA in memory of a program, for verbs and for DEVX. */
final class MappedQueues {
  /** log2 of the largest receive queue, and of the largest send queue in blocks. */
  static final int MAX_SHIFT = 15;

  /** Bytes of a data segment. */
  static final int SEGMENT = 16;

  private MappedQueues() {}

  /** Leases of queues' memory, closed unless an object takes them over. */
  static final class Leases implements AutoCloseable {
    private final ClientContext context;
    private final List<Lease> leases = new ArrayList<>();

    Leases(ClientContext context) {
      this.context = context;
    }

    Memory add(long start, long bytes) throws ErrnoException {
      ClientProcess process = context.process();
      GpuRange gpu = context.gpuMemory(start, bytes);
      Lease lease =
          gpu == null ? process.lease(start, bytes) : ClientProcess.lease(gpu, start, bytes);
      leases.add(lease);
      return process.queueMemory(lease);
    }

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

  /** Requires that a part of a queue is shared: pages of the host, or memory of a GPU. */
  private static void requireShared(ClientContext context, long start, long bytes)
      throws ErrnoException, PagesNotShared {
    context.device().requirePath(start);
    if (context.gpuMemory(start, bytes) == null) {
      context.process().requireShared(start, bytes);
    }
  }

  /** Requires that a part of a queue is aligned and shared. */
  static void requireShared(ClientContext context, long start, long bytes, int alignment)
      throws ErrnoException, PagesNotShared {
    ErrnoException.require((start & (alignment - 1)) == 0, Errno.EINVAL);
    requireShared(context, start, bytes);
  }

  /** Attributes of a completion queue in host memory. */
  static CompletionQueueAttributes attributes(
      int entries, boolean collapsed, boolean ignoreOverrun, int entryBytes) {
    return new CompletionQueueAttributes(
        entries, collapsed, ignoreOverrun, MemoryKind.HOST, MemoryKind.HOST, entryBytes);
  }

  static Resource.Cq createCq(
      ClientContext context,
      CompletionQueueAttributes attributes,
      long ring,
      long record,
      long userHandle,
      @Nullable EventStream channel)
      throws ErrnoException, PagesNotShared {
    long bytes = attributes.ringBytes();
    requireShared(context, ring, bytes, Cqe.BYTES);
    requireShared(context, record, DoorbellRecord.BYTES, DoorbellRecord.BYTES);
    try (Leases leases = new Leases(context)) {
      Memory ringMemory = leases.add(ring, bytes);
      Memory recordMemory = leases.add(record, DoorbellRecord.BYTES);
      MemoryProvider memory = LeasedMemory.inOrder(ringMemory, recordMemory);
      if (userHandle != Resource.DEVX) {
        // libmlx5 has written every entry.
        memory = (SoftProtectionDomain.FilledRings) memory::allocate;
      }
      SoftProtectionDomain domain = context.completionQueues();
      CompletionQueue queue =
          channel == null && userHandle != Resource.DEVX
              ? domain.createCompletionQueue(attributes, memory)
              : domain.createCompletionQueue(attributes, memory, context.completions());
      Resource.Cq cq =
          new Resource.Cq((SoftCompletionQueue) queue, userHandle, channel, leases.keep());
      ClientContext.disarm(cq, recordMemory);
      return cq;
    }
  }

  /**
   * Addresses and sizes of a queue pair's queues in the program.
   *
   * @param buffer of the receives, and behind them the sends
   * @param sendBlocks 64-byte blocks; 0 for none
   * @param receives receive WQEs; 0 for none
   * @param receiveShift log2 of the bytes of one
   */
  record QpShape(long buffer, long record, int sendBlocks, int receives, int receiveShift) {
    void check(ClientContext context) throws ErrnoException {
      boolean legalSends =
          sendBlocks == 0 || (SendQueue.isLegalSize(sendBlocks) && sendBlocks <= 1 << MAX_SHIFT);
      boolean legalReceives =
          receives == 0
              || (Integer.bitCount(receives) == 1
                  && receives <= 1 << MAX_SHIFT
                  && receiveShift >= 4
                  && receiveShift <= 9);
      boolean isEmpty = sendBlocks == 0 && receives == 0 && buffer == 0;
      boolean isAligned =
          ((buffer | sends()) & (SendQueue.BLOCK - 1)) == 0
              && (record & (DoorbellRecord.BYTES - 1)) == 0;
      ErrnoException.require(legalSends && legalReceives && !isEmpty && isAligned, Errno.EINVAL);
      ErrnoException.require(
          sendBlocks <= context.device().hca().attributes().maxSendBlocks(), Errno.ENOMEM);
    }

    /** Address of the sends, behind the receives. */
    long sends() {
      return buffer + receiveBytes();
    }

    long receiveBytes() {
      return receives == 0 ? 0 : (long) receives << receiveShift;
    }

    long sendBytes() {
      return (long) sendBlocks << SendQueue.BLOCK_SHIFT;
    }
  }

  static Resource.Qp createQp(
      ClientContext context,
      Resource.Pd pd,
      QpShape shape,
      UarPage page,
      Transport transport,
      Resource.Cq send,
      Resource.@Nullable Cq receive,
      @Nullable SharedReceiveQueue shared,
      long userHandle)
      throws ErrnoException, PagesNotShared {
    try (Leases leases = new Leases(context)) {
      SoftQueuePair queuePair =
          create(context, leases, pd, shape, transport, send, receive, shared);
      context.device().describe(queuePair);
      return new Resource.Qp(
          queuePair, new QueuePairControl(queuePair, transport), page, userHandle, leases.keep());
    }
  }

  private static SoftQueuePair create(
      ClientContext context,
      Leases leases,
      Resource.Pd pd,
      QpShape shape,
      Transport transport,
      Resource.Cq send,
      Resource.@Nullable Cq receive,
      @Nullable SharedReceiveQueue shared)
      throws ErrnoException, PagesNotShared {
    shape.check(context);
    // A queue pair without sends has one block that is never posted to, in its record's page.
    long sends = shape.sendBlocks == 0 ? shape.record & -SendQueue.BLOCK : shape.sends();
    int blocks = Math.max(1, shape.sendBlocks);
    long sendBytes = (long) blocks << SendQueue.BLOCK_SHIFT;
    long receiveBytes = shape.receiveBytes();
    if (receiveBytes > 0 && sends == shape.buffer + receiveBytes) {
      // Both are one buffer: the program shares it at once.
      requireShared(context, shape.buffer, receiveBytes + sendBytes);
    } else if (receiveBytes > 0) {
      requireShared(context, shape.buffer, receiveBytes);
    }
    requireShared(context, sends, sendBytes);
    requireShared(context, shape.record, DoorbellRecord.BYTES);
    List<Memory> memory = new ArrayList<>();
    memory.add(leases.add(sends, sendBytes));
    if (receiveBytes > 0) {
      memory.add(leases.add(shape.buffer, receiveBytes));
    }
    memory.add(leases.add(shape.record, DoorbellRecord.BYTES));
    int segments = receiveBytes == 0 ? 1 : (1 << shape.receiveShift) / SEGMENT;
    QueuePairAttributes attributes =
        new QueuePairAttributes(
            blocks,
            (int) (receiveBytes / SEGMENT),
            send.queue,
            receive == null ? null : receive.queue,
            MemoryKind.HOST,
            MemoryKind.HOST,
            transport,
            shared);
    MemoryProvider from = LeasedMemory.inOrder(memory.toArray(Memory[]::new));
    return (SoftQueuePair) pd.domain().createQueuePair(attributes, segments, from);
  }

  /**
   * Attributes of a shared receive queue in host memory.
   *
   * @param stride bytes of a WQE
   */
  static SharedReceiveQueueAttributes receives(int entries, int stride, boolean cyclic) {
    return new SharedReceiveQueueAttributes(
        entries, stride / SEGMENT - 1, MemoryKind.HOST, MemoryKind.HOST, cyclic);
  }

  static Resource.Srq createSrq(
      ClientContext context,
      Resource.Pd pd,
      long ring,
      long record,
      SharedReceiveQueueAttributes attributes,
      long userHandle)
      throws ErrnoException, PagesNotShared {
    long bytes = (long) attributes.entries() * attributes.stride();
    requireShared(context, ring, bytes, attributes.stride());
    requireShared(context, record, DoorbellRecord.BYTES, DoorbellRecord.BYTES);
    try (Leases leases = new Leases(context)) {
      SoftSharedReceiveQueue queue =
          pd.domain()
              .createSharedReceiveQueue(
                  attributes,
                  LeasedMemory.inOrder(
                      leases.add(ring, bytes), leases.add(record, DoorbellRecord.BYTES)));
      return new Resource.Srq(queue, userHandle, attributes.entries(), leases.keep());
    }
  }
}
