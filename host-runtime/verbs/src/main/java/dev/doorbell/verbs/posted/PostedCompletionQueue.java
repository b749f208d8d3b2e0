package dev.doorbell.verbs.posted;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.verbs.device.VerbsDomain;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A ring of CQEs, filled from the work completions of {@code ibv_poll_cq}. */
final class PostedCompletionQueue implements CompletionQueue {
  private static final int BATCH = 16;
  private static final Failure CREATE =
      Failure.of("create a completion queue", "make it smaller, or close others");
  private static final Failure DESTROY =
      Failure.of(
          "close a completion queue", "this is a fault in Doorbell: something still uses it");

  private final PostedDevice device;
  private final VerbsDomain domain;
  private final CompletionQueueAttributes attributes;
  private final int number;
  private final MemorySegment cq;
  private final Memory ring;
  private final Memory record;
  private final MemorySegment completions;

  private final Map<Integer, PostedQueuePair> users = new ConcurrentHashMap<>();

  private long produced;
  private boolean overrun;
  private boolean closed;

  PostedCompletionQueue(
      PostedDevice device,
      VerbsDomain domain,
      int number,
      int depth,
      CompletionQueueAttributes attributes,
      Memory ring,
      Memory record) {
    this.device = device;
    this.domain = domain;
    this.number = number;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    this.cq =
        VerbsFunctions.CREATE_CQ.pointer(
            CREATE, device.context.context, depth, MemorySegment.NULL, MemorySegment.NULL, 0);
    this.completions =
        Arena.ofAuto().allocate((long) BATCH * WorkCompletionLayout.BYTES, Long.BYTES);
    Cqe.fillInitial(ring.address(), attributes.entries());
  }

  MemorySegment segment() {
    return cq;
  }

  /** Adds a queue pair, whose completions are written here. */
  void use(PostedQueuePair queuePair) {
    users.put(queuePair.number(), queuePair);
  }

  void unuse(PostedQueuePair queuePair) {
    users.remove(queuePair.number());
  }

  /** Polls the provider and writes a CQE for each completion; returns their number. */
  int poll() {
    if (users.isEmpty()) {
      return 0;
    }
    int found = device.context.ops.pollCq(cq.address(), BATCH, completions.address());
    for (int i = 0; i < found; i++) {
      long wc = completions.address() + (long) i * WorkCompletionLayout.BYTES;
      PostedQueuePair queuePair = users.get(RawMemory.getInt(wc + WorkCompletionLayout.QPN_OFFSET));
      if (queuePair != null) {
        queuePair.onCompletion(wc);
      }
    }
    return Math.max(found, 0);
  }

  private long next() {
    int entries = attributes.entries();
    if (!attributes.ignoreOverrun() && !overrun) {
      int consumed = DoorbellRecord.consumerIndex(record.address());
      overrun = (((int) produced - consumed) & DoorbellRecord.CONSUMER_MASK) >= entries;
      if (overrun) {
        users.values().forEach(PostedQueuePair::fail);
      }
    }
    return attributes.collapsed()
        ? ring.address()
        : Cqe.entryAddress(ring.address(), entries, produced);
  }

  private int owner() {
    return attributes.collapsed() ? 0 : Cqe.ownerFor(produced, attributes.entries());
  }

  void requester(int wqeOpcode, int qpn, long index, int bytes) {
    long entry = next();
    if (!overrun) {
      int counter = (int) index & SendQueue.INDEX_MASK;
      Cqe.writeRequester(entry, wqeOpcode, qpn, counter, bytes, System.nanoTime(), owner());
      produced++;
    }
  }

  void responder(int opcode, int qpn, long index, int bytes, int immediate) {
    long entry = next();
    if (!overrun) {
      int counter = (int) index & SendQueue.INDEX_MASK;
      Cqe.writeResponder(
          entry, opcode, qpn, 0, counter, bytes, immediate, false, System.nanoTime(), owner());
      produced++;
    }
  }

  void error(int opcode, int syndrome, int vendor, int wqeOpcode, int qpn, long index) {
    long entry = next();
    if (!overrun) {
      int counter = (int) index & SendQueue.INDEX_MASK;
      ErrorCqe.write(entry, opcode, syndrome, vendor, wqeOpcode, qpn, counter, owner());
      produced++;
    }
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public CompletionQueueAttributes attributes() {
    return attributes;
  }

  @Override
  public long ringAddress() {
    return ring.address();
  }

  @Override
  public long recordAddress() {
    return record.address();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (!users.isEmpty()) {
      throw new HcaException(
          "cannot close completion queue 0x%x of %s: %d queue pair(s) still complete into it; close these queue pairs first"
              .formatted(number, device.context.name, users.size()),
          Errno.EBUSY);
    }
    closed = true;
    VerbsFunctions.DESTROY_CQ.require(DESTROY, cq);
    domain.closed(this);
    ring.close();
    record.close();
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number);
  }
}
