package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A receive ring: the HCA looks at the record when it needs a receive WQE and knows of none. */
final class ReceiveQueue extends ReceiveSource {
  private enum Step {
    IDLE,
    RECORD,
    WQE
  }

  private final SoftQueuePair queuePair;
  private final DevicePort port;
  private final long ring;
  private final int entries;
  private final int stride;
  private final long record;

  /** The receive WQE in use, then the record. */
  private final MemorySegment staging;

  private final long wqe;
  private final long recordCopy;
  private final Completion completion = this::arrived;

  private long producer;
  private long consumed;
  private Step step = Step.IDLE;
  private boolean arrived;
  private boolean failed;
  private boolean atHand;
  private boolean looked;

  /**
   * @param entries receive WQEs of the ring
   * @param segments data segments of one
   */
  ReceiveQueue(SoftQueuePair queuePair, long ring, int entries, int segments, long record) {
    this.queuePair = queuePair;
    this.port = queuePair.hca.port;
    this.ring = ring;
    this.entries = entries;
    this.stride = segments * ReceiveSegment.BYTES;
    this.record = record;
    this.staging = Arena.ofAuto().allocate(stride + DoorbellRecord.BYTES, Long.BYTES);
    this.wqe = staging.address();
    this.recordCopy = wqe + stride;
  }

  @Override
  long index() {
    return consumed;
  }

  @Override
  int segments() {
    return stride / ReceiveSegment.BYTES;
  }

  @Override
  long segment(int number) {
    return wqe + (long) number * ReceiveSegment.BYTES;
  }

  @Override
  boolean failed() {
    return failed;
  }

  @Override
  int prepare() {
    while (!atHand) {
      if (step != Step.IDLE) {
        if (!arrived) {
          return WAIT;
        }
        finish();
        continue;
      }
      if (producer == consumed) {
        if (looked) {
          looked = false;
          return EMPTY;
        }
        begin(Step.RECORD, record + DoorbellRecord.RECEIVE_OFFSET, recordCopy, Integer.BYTES);
      } else {
        begin(Step.WQE, ReceiveSegment.wqeAddress(ring, entries, stride, consumed), wqe, stride);
      }
    }
    return READY;
  }

  private void begin(Step next, long address, long target, int bytes) {
    step = next;
    arrived = false;
    if (port.read(address, target, bytes, completion)) {
      arrived = true;
    }
  }

  private void finish() {
    Step done = step;
    step = Step.IDLE;
    if (done == Step.RECORD) {
      looked = true;
      int ahead = SendQueue.distance((int) producer, DoorbellRecord.receiveIndex(recordCopy));
      if (ahead <= entries) {
        producer += ahead;
      }
    } else {
      atHand = true;
    }
    if (producer != consumed) {
      looked = false;
    }
  }

  private void arrived(boolean ok) {
    failed |= !ok;
    arrived = true;
    queuePair.activate();
  }

  @Override
  boolean isTaken() {
    return atHand;
  }

  @Override
  void consume() {
    consumed++;
    atHand = false;
  }

  @Override
  void release() {
    // The ring is the queue pair's own and goes with it.
  }

  @Override
  int userIndex() {
    return 0;
  }

  @Override
  boolean isOwn() {
    return true;
  }
}
