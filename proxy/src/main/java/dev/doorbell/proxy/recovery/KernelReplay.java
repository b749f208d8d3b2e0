package dev.doorbell.proxy.recovery;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.SentRequests;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.recovery.KernelConnection.KernelQueue;
import dev.doorbell.proxy.recovery.KernelRing.PostedWqe;
import dev.doorbell.proxy.recovery.PostingSupervisor.DoorbellWriter;
import dev.doorbell.proxy.recovery.PostingSupervisor.SupervisionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Finishes what a kernel has posted on a connection that failed, while no poster is at work:
 * nothing is lost, and nothing is applied twice.
 *
 * <p>The WQEs are in the ring, and they are the truth. Those behind the last completion are split
 * by what the peer has executed: messages of a reliable connection are executed in order, so a
 * count will do. The HCA's own count of what it has begun says which message a WQE is: the ring
 * cannot compute the number of messages before it. What was executed is done; an atomic takes the
 * result that the peer's HCA stores. The rest is written again, in its order, to a connection that
 * is connected anew.
 *
 * <p>A READ that was executed and whose data was lost is posted again when nothing behind it was
 * executed; else it would read what it should not have seen, and nothing can be saved.
 */
final class KernelReplay {
  /**
   * Result of a replay.
   *
   * @param connection where posting goes on; its queues hold nothing that is not done. Null when
   *     there is none
   * @param outstanding messages without a completion
   * @param executed of those, had been executed, and were not posted again
   * @param replayed of those, were posted again
   * @param lost of those, whose result cannot be had any more
   */
  record Result(
      @Nullable KernelConnection connection,
      int outstanding,
      int executed,
      int replayed,
      int lost) {}

  private record Split(List<PostedWqe> again, int executed, int replayed, int lost) {}

  private final Fabric fabric;
  private final DoorbellWriter doorbellWriter;
  private final KernelConnection.Source source;
  private final SupervisionPolicy policy;
  private int attempt;

  KernelReplay(
      Fabric fabric,
      DoorbellWriter doorbellWriter,
      KernelConnection.Source source,
      SupervisionPolicy policy) {
    this.fabric = fabric;
    this.doorbellWriter = doorbellWriter;
    this.source = source;
    this.policy = policy;
  }

  Result finish(KernelConnection failed) {
    KernelConnection connection = failed;
    Split first = null;
    int fruitless = 0;
    while (true) {
      connection.stop();
      fabric.run(() -> false, policy.settleNanos());
      fabric.quiesce();
      KernelRing ring = KernelRing.read(connection.queue());
      Split split = split(connection, ring);
      fruitless = split.executed > 0 || ring.completed > 0 ? 0 : fruitless + 1;
      first = first == null ? split : first;
      KernelConnection next =
          split.lost > 0 || fruitless >= policy.attempts()
              ? null
              : source.next(attempt++, connection);
      if (next != null) {
        long posted = prepare(next, split.again);
        connection = next;
        if (posted > 0 && !completes(next, posted)) {
          continue;
        }
        markCompleted(next);
      }
      return new Result(
          next,
          first.executed + first.replayed + first.lost,
          first.executed,
          first.replayed,
          split.lost);
    }
  }

  private static Split split(KernelConnection connection, KernelRing ring) {
    List<PostedWqe> left = ring.unfinished();
    SentRequests sent = connection.sent();
    ExecutedRequests executed = connection.executed();
    int messages = (int) left.stream().filter(PostedWqe::isMessage).count();
    if (sent == null || executed == null) {
      return new Split(left, 0, 0, messages);
    }
    long begun = ring.completed + SendQueue.distance((int) ring.completed, sent.block());
    long known =
        sent.messages() - left.stream().filter(wqe -> wqe.isMessage() && wqe.index < begun).count();
    int done = (int) (executed.since(known) - known);
    List<PostedWqe> again = new ArrayList<>();
    int number = 0;
    int restored = 0;
    int lost = 0;
    for (PostedWqe wqe : left) {
      if (!wqe.isMessage()) {
        // Of a NOP or a DUMP nothing is left to do once all before it is done.
        if (!again.isEmpty()) {
          again.add(wqe);
        }
        continue;
      }
      if (number >= done || (number == done - 1 && wqe.opcode() == Opcode.RDMA_READ)) {
        again.add(wqe);
      } else if (restore(connection, wqe, executed, known + number)) {
        restored++;
      } else {
        lost++;
      }
      number++;
    }
    return new Split(again, restored, messages - restored - lost, lost);
  }

  /** Makes an executed message done; false when its result is gone. */
  private static boolean restore(
      KernelConnection connection, PostedWqe wqe, ExecutedRequests executed, long message) {
    if (wqe.opcode() == Opcode.RDMA_READ) {
      return false;
    }
    if (!Opcode.isAtomic(wqe.opcode())) {
      return true;
    }
    OptionalLong result = executed.result(message);
    result.ifPresent(value -> connection.deliver(wqe.resultAddress(), value));
    return result.isPresent();
  }

  /**
   * Connects a connection and writes WQEs to its ring, from block 0 on, as if its posters had.
   *
   * @return the block behind the last one
   */
  private static long prepare(KernelConnection connection, List<PostedWqe> wqes) {
    KernelQueue queue = connection.queue();
    long consumed = KernelRing.read(queue).consumed;
    connection.reconnect();
    Memory ring = queue.sendRing();
    // What lies there of the connection before would look like WQEs of this one.
    ring.fill(0, ring.size(), (byte) 0);
    if ((queue.view().flags() & QueuePairView.FLAG_CQ_COLLAPSED) != 0) {
      queue.completionRing().fill(0, Cqe.BYTES, Cqe.INITIAL_FILL);
    }
    long index = 0;
    for (PostedWqe wqe : wqes) {
      wqe.moveTo(connection, index);
      ring.write(index << SendQueue.BLOCK_SHIFT, wqe.bytes);
      index += wqe.blocks();
    }
    Memory counters = queue.counters();
    counters.fill(0, counters.size(), (byte) 0);
    counters.putLong(QueuePairView.COUNTERS_RESERVED, index << QueuePairView.RESERVED_SHIFT);
    counters.putLong(QueuePairView.COUNTERS_RUNG, index);
    counters.putLong(QueuePairView.COUNTERS_CQ_INDEX, consumed);
    return index;
  }

  /**
   * Rings for what was written; true when all of it completes, false when the connection fails
   * again.
   */
  private boolean completes(KernelConnection connection, long posted) {
    doorbellWriter.ring(connection.queue().access(), posted);
    long before = 0;
    long since = fabric.now();
    while (true) {
      fabric.run(() -> false, policy.pollNanos());
      KernelRing ring = KernelRing.read(connection.queue());
      if (ring.completed >= posted) {
        return true;
      }
      if (ring.completed != before) {
        before = ring.completed;
        since = fabric.now();
      }
      if (ring.failed || fabric.now() - since >= policy.silenceNanos()) {
        return false;
      }
    }
  }

  private void markCompleted(KernelConnection connection) {
    fabric.quiesce();
    KernelRing ring = KernelRing.read(connection.queue());
    Memory counters = connection.queue().counters();
    counters.putLong(QueuePairView.COUNTERS_COMPLETED, ring.reserved);
    counters.putLong(QueuePairView.COUNTERS_CQ_INDEX, ring.consumed);
    counters.putLong(QueuePairView.COUNTERS_POISON, 0);
    connection.queue().error().fill(0, connection.queue().error().size(), (byte) 0);
  }
}
