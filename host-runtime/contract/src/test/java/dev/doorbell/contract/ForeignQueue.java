package dev.doorbell.contract;

import dev.doorbell.core.efa.CompletionEntry;
import dev.doorbell.core.efa.TxWqe;
import dev.doorbell.core.efa.generated.RxDescriptor;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.DeviceQueue;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Posts what a test has built as an mlx5 WQE to a queue pair with queues of another format, and
 * reads completions there. What that format cannot express it posts as an operation that does not
 * exist.
 */
abstract class ForeignQueue {
  private static final int LONGS_OF_A_WORD = Long.BYTES;

  final Endpoint end;
  final int entries;
  private final MemorySegment image = Arena.ofAuto().allocate(TxWqe.BYTES, 64);
  long posted;

  private ForeignQueue(Endpoint end, int entries) {
    this.end = end;
    this.entries = entries;
  }

  /** The queues of an endpoint; null where they are mlx5's. */
  static @Nullable ForeignQueue of(Endpoint end, int entries) {
    DeviceQueue queue = end.queuePair.deviceQueue();
    if (queue == null) {
      return null;
    }
    return new Efa(end, entries);
  }

  final long image() {
    return image.address();
  }

  /** Stores the image to the ring in the adapter's memory. */
  final void store(int bytes) {
    long slot = end.queuePair.sendRingAddress() + (posted & (entries - 1)) * bytes;
    for (int at = 0; at < bytes; at += LONGS_OF_A_WORD) {
      end.world.store64(end.side, slot + at, RawMemory.getLong(image() + at));
    }
    posted++;
  }

  /**
   * Posts a WQE of so many units; some formats need {@link #ring} behind it.
   *
   * @return its index
   */
  abstract long append(long wqe, int units);

  abstract void ring();

  /** Returns true if a WQE has an inline segment and another segment of data. */
  static boolean isMixed(long wqe, int first, int units) {
    if (first < units && DataSegment.isInline(wqe + (long) first * SendQueue.UNIT)) {
      int bytes =
          InlineSegment.DATA_OFFSET + InlineSegment.byteCount(wqe + (long) first * SendQueue.UNIT);
      return first + (bytes + SendQueue.UNIT - 1) / SendQueue.UNIT < units;
    }
    for (int unit = first + 1; unit < units; unit++) {
      if (DataSegment.isInline(wqe + (long) unit * SendQueue.UNIT)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the number of consumed completions after a reset: a completion queue goes on, a counter
   * does not.
   */
  long polledAfterReset(long polled) {
    return polled;
  }

  /** The queue pair was reset: it begins at slot 0 again. */
  void restart() {
    posted = 0;
  }

  abstract void postReceive(long index, int bytes, int key, long address);

  /** Returns true if completion {@code index} of a queue has arrived. */
  abstract boolean isThere(CompletionQueue queue, long index);

  abstract Endpoint.Completion read(CompletionQueue queue, long index);

  /** EFA. */
  private static final class Efa extends ForeignQueue {
    private static final int NO_OPERATION = 0xf;
    private static final int RECEIVE_DOORBELL = 8;
    private long rung;

    Efa(Endpoint end, int entries) {
      super(end, entries);
    }

    private MemorySegment descriptor() {
      return MemorySegment.ofArray(
          Objects.requireNonNull(end.queuePair.deviceQueue()).descriptor());
    }

    @Override
    long append(long wqe, int units) {
      int opcode = ControlSegment.opcode(wqe);
      int operation =
          switch (opcode) {
            case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM -> TxWqe.RDMA_WRITE;
            case Opcode.RDMA_READ -> TxWqe.RDMA_READ;
            case Opcode.SEND, Opcode.SEND_IMM -> TxWqe.SEND;
            default -> NO_OPERATION;
          };
      boolean remote = operation == TxWqe.RDMA_WRITE || operation == TxWqe.RDMA_READ;
      int unit = remote ? 2 : 1;
      boolean expressible = operation != NO_OPERATION && !isMixed(wqe, unit, units);
      if (!expressible) {
        operation = NO_OPERATION;
      }
      boolean inline =
          expressible && unit < units && DataSegment.isInline(wqe + (long) unit * SendQueue.UNIT);
      int count = !expressible ? 0 : inline ? 1 : units - unit;
      int bytes = 0;
      for (int i = 0; i < count; i++) {
        long at = wqe + (long) (unit + i) * SendQueue.UNIT;
        bytes += inline ? InlineSegment.byteCount(at) : DataSegment.byteCount(at);
      }
      MemorySegment descriptor = descriptor();
      TxWqe.writeMeta(
          image(),
          (int) posted & 0xffff,
          operation,
          inline,
          inline ? bytes : count,
          (int) (posted / entries & 1),
          descriptor.get(ValueLayout.JAVA_INT_UNALIGNED, 32),
          0,
          0);
      if (opcode == Opcode.RDMA_WRITE_IMM || opcode == Opcode.SEND_IMM) {
        TxWqe.putImmediate(image(), ControlSegment.immediate(wqe));
      }
      if (remote) {
        long at = wqe + SendQueue.UNIT;
        TxWqe.putRemote(
            image(), bytes, RemoteAddressSegment.rkey(at), RemoteAddressSegment.address(at));
      }
      for (int i = 0; i < count; i++) {
        long at = wqe + (long) (unit + i) * SendQueue.UNIT;
        if (inline) {
          RawMemory.copy(at + InlineSegment.DATA_OFFSET, TxWqe.inlineData(image()), bytes);
        } else if (i < (remote ? 1 : 2)) {
          TxWqe.putBuffer(
              image(), i, DataSegment.byteCount(at), DataSegment.lkey(at), DataSegment.address(at));
        }
      }
      long index = posted;
      store(TxWqe.BYTES);
      if (posted - rung == descriptor.get(ValueLayout.JAVA_INT_UNALIGNED, 44)) {
        ring();
      }
      return index;
    }

    @Override
    void restart() {
      super.restart();
      rung = 0;
    }

    @Override
    void ring() {
      rung = posted;
      end.world.store64(end.side, end.queuePair.doorbellAddress(), posted & 0xffff);
    }

    @Override
    void postReceive(long index, int bytes, int key, long address) {
      long slot = index & (end.queuePair.attributes().receiveEntries() - 1);
      RxDescriptor.write(
          end.queuePair.receiveRingAddress() + slot * RxDescriptor.BYTES,
          (int) index,
          address,
          bytes,
          key);
      end.world.store64(
          end.side, end.queuePair.doorbellAddress() + RECEIVE_DOORBELL, (index + 1) & 0xffff);
    }

    private static long entry(CompletionQueue queue, long index) {
      return queue.ringAddress()
          + (index & (queue.attributes().entries() - 1)) * CompletionEntry.BYTES;
    }

    @Override
    boolean isThere(CompletionQueue queue, long index) {
      int phase = (int) (~(index / queue.attributes().entries()) & 1);
      return CompletionEntry.phase(entry(queue, index)) == phase;
    }

    @Override
    Endpoint.Completion read(CompletionQueue queue, long index) {
      long at = entry(queue, index);
      boolean request = CompletionEntry.queue(at) == CompletionEntry.SEND_QUEUE;
      int status = CompletionEntry.status(at);
      boolean write = CompletionEntry.operation(at) == TxWqe.RDMA_WRITE;
      int opcode;
      if (status != CompletionEntry.OK) {
        opcode = request ? Cqe.REQUESTER_ERROR : Cqe.RESPONDER_ERROR;
      } else if (request) {
        opcode = Cqe.REQUESTER;
      } else if (write) {
        opcode = Cqe.RESPONDER_WRITE_IMM;
      } else {
        opcode = CompletionEntry.hasImmediate(at) ? Cqe.RESPONDER_SEND_IMM : Cqe.RESPONDER_SEND;
      }
      int wqeOpcode =
          switch (CompletionEntry.operation(at)) {
            case TxWqe.RDMA_WRITE -> Opcode.RDMA_WRITE;
            case TxWqe.RDMA_READ -> Opcode.RDMA_READ;
            default -> Opcode.SEND;
          };
      return new Endpoint.Completion(
          opcode,
          syndrome(status),
          wqeOpcode,
          CompletionEntry.number(at),
          CompletionEntry.requestId(at),
          request ? 0 : CompletionEntry.length(at),
          request ? 0 : CompletionEntry.immediate(at));
    }

    private static int syndrome(int status) {
      return switch (status) {
        case CompletionEntry.OK -> 0;
        case CompletionEntry.FLUSHED -> Syndrome.FLUSHED;
        case CompletionEntry.INVALID_LKEY -> Syndrome.LOCAL_PROTECTION;
        case CompletionEntry.BAD_LENGTH -> Syndrome.LOCAL_LENGTH;
        case CompletionEntry.REMOTE_BAD_ADDRESS -> Syndrome.REMOTE_ACCESS;
        case CompletionEntry.REMOTE_BAD_LENGTH -> Syndrome.REMOTE_INVALID_REQUEST;
        case CompletionEntry.REMOTE_ABORT -> Syndrome.REMOTE_OPERATION;
        case CompletionEntry.REMOTE_NOT_READY -> Syndrome.RNR_RETRY_EXCEEDED;
        case CompletionEntry.UNRESPONSIVE_REMOTE -> Syndrome.TRANSPORT_RETRY_EXCEEDED;
        default -> Syndrome.LOCAL_QP_OPERATION;
      };
    }
  }
}
