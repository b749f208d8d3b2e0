package dev.doorbell.proxy.recovery;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.recovery.KernelConnection.KernelQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads what a kernel has left in the queues of its queue pair while no poster is at work: how far
 * the queue is completed, CQEs included that no thread has looked at, and the WQEs behind.
 *
 * <p>Every reservation is then either written in full or given up. Before the first that was given
 * up, blocks are recognised by the index and the queue pair in their control segments; behind it
 * only reservations can follow whose poster did not hold the baton, and those are marked
 * (kernels/include/doorbell/post.cuh).
 */
final class KernelRing {
  /** Mark of a reservation that will not be written. */
  private static final long NEVER_WRITTEN = -1;

  private static final ValueLayout.OfLong MARK =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final QueuePairView view;
  private final MemorySegment ring;
  private final MemorySegment marks;

  /** Blocks below were handed out to posters. */
  final long reserved;

  /** Blocks below are done. */
  long completed;

  /** CQEs below were looked at, here or by a kernel. */
  long consumed;

  /** True when there is an error CQE that no thread has consumed. */
  boolean failed;

  private KernelRing(KernelQueue queue) {
    view = queue.view();
    Memory counters = queue.counters();
    reserved =
        (counters.getLong(QueuePairView.COUNTERS_RESERVED) & ~QueuePairView.RESERVED_BROKEN)
            >>> QueuePairView.RESERVED_SHIFT;
    completed = Abi.completedBlocks(counters);
    consumed = counters.getLong(QueuePairView.COUNTERS_CQ_INDEX);
    ring = copy(queue.sendRing(), 0, (long) view.sendBlocks() << SendQueue.BLOCK_SHIFT);
    marks = copy(counters, QueuePairView.COUNTERS_BYTES, (long) view.sendBlocks() * Long.BYTES);
    consume(copy(queue.completionRing(), 0, (long) view.completionEntries() << Cqe.SHIFT));
  }

  static KernelRing read(KernelQueue queue) {
    return new KernelRing(queue);
  }

  private static MemorySegment copy(Memory memory, long offset, long bytes) {
    MemorySegment to = Arena.ofAuto().allocate(bytes, SendQueue.BLOCK);
    memory.read(offset, to);
    return to;
  }

  private void consume(MemorySegment cqes) {
    int entries = view.completionEntries();
    if ((view.flags() & QueuePairView.FLAG_CQ_COLLAPSED) != 0) {
      if (Cqe.opcode(cqes.address()) != Cqe.INVALID) {
        take(cqes.address());
      }
      return;
    }
    long end = consumed + entries;
    while (consumed < end) {
      long entry = Cqe.entryAddress(cqes.address(), entries, consumed);
      if (!Cqe.isOwnedBySoftware(entry, consumed, entries)) {
        return;
      }
      take(entry);
      consumed++;
    }
  }

  /** A good CQE stands for its WQE and all before it; an error for all before its WQE. */
  private void take(long entry) {
    boolean error = Cqe.isError(Cqe.opcode(entry));
    int counter = error ? ErrorCqe.wqeCounter(entry) : Cqe.wqeCounter(entry);
    long index = completed + SendQueue.distance((int) completed, counter);
    boolean news = index - completed < view.sendBlocks() && index < reserved;
    if (news && !failed && (!error || ErrorCqe.syndrome(entry) != Syndrome.FLUSHED)) {
      completed =
          error ? index : index + Math.max(1, SendQueue.blocks(ControlSegment.ds(at(index))));
    }
    failed |= error;
  }

  private long at(long index) {
    return SendQueue.blockAddress(ring.address(), view.sendBlocks(), index);
  }

  /** The WQEs behind {@link #completed}, in order. */
  List<PostedWqe> unfinished() {
    List<PostedWqe> found = new ArrayList<>();
    boolean gap = false;
    long index = completed;
    while (index < reserved) {
      if (gap ? isMarked(index) : isHere(index)) {
        long end = gap ? mark(index) >>> 1 : index + 1;
        while (index < end) {
          PostedWqe wqe = new PostedWqe(ring.address(), view.sendBlocks(), index);
          found.add(wqe);
          index += wqe.blocks();
        }
      } else {
        gap = true;
        index++;
      }
    }
    return found;
  }

  private boolean isHere(long index) {
    long segment = at(index);
    return ControlSegment.wqeIndex(segment) == ((int) index & SendQueue.INDEX_MASK)
        && ControlSegment.qpn(segment) == view.number24()
        && ControlSegment.ds(segment) > 0
        && mark(index) != NEVER_WRITTEN;
  }

  private long mark(long index) {
    return marks.get(MARK, (index & (view.sendBlocks() - 1)) * Long.BYTES);
  }

  private boolean isMarked(long index) {
    long mark = mark(index);
    return mark != NEVER_WRITTEN && mark > (index << 1 | 1);
  }

  /** A WQE that a kernel has written, copied out of its ring. */
  static final class PostedWqe {

    final long index;

    final MemorySegment bytes;

    private final long at;

    PostedWqe(long ring, int ringBlocks, long index) {
      int ds = ControlSegment.ds(SendQueue.blockAddress(ring, ringBlocks, index));
      this.index = index;
      this.bytes =
          Arena.ofAuto()
              .allocate((long) SendQueue.blocks(ds) << SendQueue.BLOCK_SHIFT, SendQueue.BLOCK);
      this.at = bytes.address();
      SendQueue.copyOut(ring, ringBlocks, index, ds, at);
    }

    int blocks() {
      return SendQueue.blocks(ControlSegment.ds(at));
    }

    int opcode() {
      return ControlSegment.opcode(at);
    }

    /** True when the peer counts it. */
    boolean isMessage() {
      return Opcode.isMessage(opcode());
    }

    /**
     * Address that the old value of an atomic belongs to: its one data segment is its last unit.
     */
    long resultAddress() {
      return DataSegment.address(lastUnit());
    }

    private long lastUnit() {
      return at + ((ControlSegment.ds(at) - 1L) << SendQueue.UNIT_SHIFT);
    }

    /** Makes it a WQE at {@code to} of {@code connection}: index, queue pair and keys change. */
    void moveTo(KernelConnection connection, long to) {
      ControlSegment.write(
          at,
          ControlSegment.opmod(at),
          (int) to,
          opcode(),
          connection.queue().view().number24(),
          ControlSegment.ds(at),
          ControlSegment.fmCeSe(at),
          ControlSegment.immediate(at));
      long segment = at + ControlSegment.BYTES;
      if (Opcode.hasRemoteAddress(opcode())) {
        RemoteAddressSegment.write(
            segment,
            RemoteAddressSegment.address(segment),
            connection.remoteKey(RemoteAddressSegment.rkey(segment)));
        segment += RemoteAddressSegment.BYTES;
      }
      if (Opcode.isAtomic(opcode())) {
        segment = lastUnit();
      }
      long end = lastUnit();
      if (segment <= end && !DataSegment.isInline(segment)) {
        for (; segment <= end; segment += DataSegment.BYTES) {
          DataSegment.write(
              segment,
              DataSegment.byteCount(segment),
              connection.localKey(DataSegment.lkey(segment)),
              DataSegment.address(segment));
        }
      }
    }

    @Override
    public String toString() {
      return "WQE %d, %s".formatted(index, Opcode.name(opcode()));
    }
  }
}
