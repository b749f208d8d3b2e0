package dev.doorbell.softhca;

import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SharedReceiveSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What one queue pair takes from a shared receive queue: a WQE for the message that arrives. */
final class SharedReceives extends ReceiveSource {
  final SoftQueuePair queuePair;
  private final SoftSharedReceiveQueue queue;
  private final MemorySegment staging;

  /** Native address of the WQE in use, next segment first. */
  final long wqe;

  /** The slot of the WQE in use. */
  int slot;

  boolean atHand;
  boolean released;

  SharedReceives(SoftQueuePair queuePair, SoftSharedReceiveQueue queue) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.staging = Arena.ofAuto().allocate(queue.attributes().stride(), Long.BYTES);
    this.wqe = staging.address();
  }

  @Override
  int prepare() {
    return atHand ? READY : queue.take(this);
  }

  @Override
  boolean isTaken() {
    return atHand;
  }

  @Override
  boolean failed() {
    return queue.failed();
  }

  @Override
  long index() {
    return slot;
  }

  @Override
  int segments() {
    return queue.attributes().segments();
  }

  @Override
  long segment(int number) {
    return wqe + SharedReceiveSegment.BYTES + (long) number * ReceiveSegment.BYTES;
  }

  @Override
  void consume() {
    atHand = false;
  }

  @Override
  void release() {
    released = true;
    atHand = false;
    queue.forget(queuePair);
  }

  @Override
  int userIndex() {
    return queue.number();
  }

  @Override
  boolean isOwn() {
    return false;
  }
}
