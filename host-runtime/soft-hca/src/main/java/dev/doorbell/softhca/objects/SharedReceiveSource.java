package dev.doorbell.softhca.objects;

import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SharedReceiveSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A queue pair's source of receive WQEs in a shared receive queue, one WQE per message. */
final class SharedReceiveSource extends ReceiveSource {
  final QueuePairContext queuePair;
  private final SoftSharedReceiveQueue queue;
  private final MemorySegment staging;

  /** Native address of the WQE in use, next segment first. */
  final long wqe;

  /** The slot of the WQE in use. */
  int slot;

  boolean atHand;
  boolean released;

  SharedReceiveSource(QueuePairContext queuePair, SoftSharedReceiveQueue queue) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.staging = Arena.ofAuto().allocate(queue.attributes().stride(), Long.BYTES);
    this.wqe = staging.address();
  }

  @Override
  public int prepare() {
    return atHand ? READY : queue.take(this);
  }

  @Override
  public boolean isTaken() {
    return atHand;
  }

  @Override
  public boolean failed() {
    return queue.failed();
  }

  @Override
  public long index() {
    return slot;
  }

  @Override
  public int segments() {
    return queue.attributes().segments();
  }

  @Override
  public long segment(int number) {
    return wqe + SharedReceiveSegment.BYTES + (long) number * ReceiveSegment.BYTES;
  }

  @Override
  public void consume() {
    atHand = false;
  }

  @Override
  public void release() {
    released = true;
    atHand = false;
    queue.forget(queuePair);
  }

  @Override
  public int userName() {
    return queue.userIndex;
  }

  @Override
  public int userIndex() {
    return queue.number();
  }

  @Override
  public boolean isOwn() {
    return false;
  }
}
