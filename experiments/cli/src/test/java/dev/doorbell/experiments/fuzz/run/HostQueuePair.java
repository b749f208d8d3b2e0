package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.proxy.SendQueueAccess;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A queue pair whose queues lie in host memory. Receives are posted again as they complete. */
final class HostQueuePair implements AutoCloseable {
  /** All rights of peers. */
  public static final Set<AccessRight> RIGHTS =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);

  /**
   * For wires that lose packets, between processes that share processors: lost packets are sent
   * again after milliseconds, and a peer that is not scheduled fails the connection after 40 s
   * only; the rendezvous notices much earlier that a process has ended.
   */
  static final SoftHcaOptions.Engine ENGINE =
      SoftHcaOptions.DEFAULT.engine().withFirstRetry(4_000_000);

  /** Goes with {@link #ENGINE}: a timeout of 4.3 s, eight times. */
  public static final ConnectionAttributes LOSSY =
      new ConnectionAttributes(20, 7, 7, 12, 16, 16, 0);

  private final CompletionQueue sends;
  private final Memory error;
  private final @Nullable CompletionQueue receives;
  private final QueuePair queuePair;
  private final @Nullable Memory buffers;
  private final @Nullable MemoryRegion buffersRegion;
  private final int receiveEntries;
  private final int receiveBytes;
  private long posted;
  private long received;
  private long ended;
  private long receivedBytes;

  /**
   * Creates a queue pair in RESET.
   *
   * @param blocks of the send ring, a power of two
   * @param receiveEntries receives kept posted, a power of two, or 0
   * @param receiveBytes of each
   */
  public HostQueuePair(
      ProtectionDomain domain,
      MemoryProvider memory,
      int blocks,
      int receiveEntries,
      int receiveBytes) {
    this.receiveEntries = receiveEntries;
    this.receiveBytes = receiveBytes;
    error = memory.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    sends =
        domain.createCompletionQueue(
            CompletionQueueAttributes.ring(blocks, MemoryKind.HOST), memory);
    receives =
        receiveEntries == 0
            ? null
            : domain.createCompletionQueue(
                CompletionQueueAttributes.ring(receiveEntries, MemoryKind.HOST), memory);
    queuePair =
        domain.createQueuePair(
            new QueuePairAttributes(
                blocks, receiveEntries, sends, receives, MemoryKind.HOST, MemoryKind.HOST),
            memory);
    if (receiveEntries == 0) {
      buffers = null;
      buffersRegion = null;
    } else {
      buffers = memory.allocate(MemoryKind.HOST, (long) receiveEntries * receiveBytes, "receives");
      buffersRegion = domain.register(buffers, EnumSet.of(AccessRight.LOCAL_WRITE));
    }
  }

  /** The approximate memory of a queue pair in bytes. */
  static long footprint(int blocks, int receiveEntries, int receiveBytes) {
    return (long) blocks * (SendQueue.BLOCK + Cqe.BYTES)
        + (long) receiveEntries * (ReceiveSegment.BYTES + Cqe.BYTES + receiveBytes);
  }

  public QueuePair queuePair() {
    return queuePair;
  }

  /** Its send queue, for posting. */
  public SendQueueAccess access() {
    return SendQueueAccess.of(queuePair, error.address(), 0).withFlushResults(false);
  }

  /** The first error of a posted request, as text. */
  public String firstError() {
    ErrorRecord record = ErrorRecord.decode(error.getBytes(0, ErrorRecord.BYTES));
    return "WQE %d ended with %s".formatted(record.wqeIndex(), Syndrome.name(record.syndrome()));
  }

  /** Connects to {@code peer} and posts the receives. */
  public void connect(QueuePairAddress peer, ConnectionAttributes attributes) {
    queuePair.connect(peer, RIGHTS, attributes);
    while (posted < receiveEntries) {
      postReceive();
    }
  }

  private void postReceive() {
    Memory memory = buffers;
    MemoryRegion region = buffersRegion;
    if (memory != null && region != null) {
      int slot = (int) (posted & (receiveEntries - 1));
      ReceiveSegment.write(
          queuePair.receiveRingAddress() + (long) slot * ReceiveSegment.BYTES,
          receiveBytes,
          region.lkey(),
          memory.address() + (long) slot * receiveBytes);
      posted++;
      DoorbellRecord.putReceiveIndex(queuePair.recordAddress(), posted);
    }
  }

  /** Counts completed receives and posts as many again. */
  void pollReceives() {
    CompletionQueue queue = receives;
    while (queue != null) {
      long entry = Cqe.entryAddress(queue.ringAddress(), receiveEntries, received);
      if (!Cqe.isOwnedBySoftware(entry, received, receiveEntries)
          || Cqe.isError(Cqe.opcode(entry))) {
        return;
      }
      receivedBytes += Cqe.byteCount(entry);
      received++;
      postReceive();
    }
  }

  /** The number of requests that have completed without error; each has to ask for a completion. */
  long sent() {
    int entries = sends.attributes().entries();
    long entry = Cqe.entryAddress(sends.ringAddress(), entries, ended);
    while (Cqe.isOwnedBySoftware(entry, ended, entries) && !Cqe.isError(Cqe.opcode(entry))) {
      ended++;
      entry = Cqe.entryAddress(sends.ringAddress(), entries, ended);
    }
    return ended;
  }

  /** Messages received. */
  long received() {
    return received;
  }

  /** Bytes of them. */
  long receivedBytes() {
    return receivedBytes;
  }

  @Override
  public void close() {
    queuePair.close();
    if (receives != null) {
      receives.close();
    }
    sends.close();
    error.close();
    if (buffersRegion != null) {
      buffersRegion.close();
    }
    if (buffers != null) {
      buffers.close();
    }
  }
}
