package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The rings and the doorbell record of a queue pair.
 *
 * @param receiveRing null without receives or with a shared receive queue
 * @param receiveSegments data segments of a receive WQE
 * @param record the doorbell record
 */
public record QueueMemory(
    Memory sendRing, @Nullable Memory receiveRing, int receiveSegments, Memory record) {

  /**
   * The source of its queue pair's receive WQEs, from the first one on; null if there is none.
   *
   * @param entries data segments of the receive ring
   * @param shared the shared receive queue, which replaces the ring; or null
   */
  public @Nullable ReceiveSource receives(
      QueuePairContext queuePair,
      DevicePort port,
      int entries,
      @Nullable SoftSharedReceiveQueue shared) {
    if (shared != null) {
      return shared.source(queuePair);
    }
    return receiveRing == null
        ? null
        : new ReceiveRing(
            queuePair,
            port,
            receiveRing.address(),
            entries / receiveSegments,
            receiveSegments,
            record.address());
  }

  public void close() {
    sendRing.close();
    if (receiveRing != null) {
      receiveRing.close();
    }
    record.close();
  }

  /**
   * A queue pair's receive ring. The HCA reads the record when it needs a receive WQE and has none.
   */
  static final class ReceiveRing extends ReceiveSource {
    private enum Step {
      IDLE,
      RECORD,
      WQE
    }

    private final QueuePairContext queuePair;
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
    private boolean recordRead;

    /**
     * @param entries receive WQEs of the ring
     * @param segments data segments of one
     */
    ReceiveRing(
        QueuePairContext queuePair,
        DevicePort port,
        long ring,
        int entries,
        int segments,
        long record) {
      this.queuePair = queuePair;
      this.port = port;
      this.ring = ring;
      this.entries = entries;
      this.stride = segments * ReceiveSegment.BYTES;
      this.record = record;
      this.staging = Arena.ofAuto().allocate(stride + DoorbellRecord.BYTES, Long.BYTES);
      this.wqe = staging.address();
      this.recordCopy = wqe + stride;
    }

    @Override
    public long index() {
      return consumed;
    }

    @Override
    public int segments() {
      return stride / ReceiveSegment.BYTES;
    }

    @Override
    public long segment(int number) {
      return wqe + (long) number * ReceiveSegment.BYTES;
    }

    @Override
    public int prepare() {
      while (!atHand) {
        if (step != Step.IDLE) {
          if (!arrived) {
            return WAIT;
          }
          finish();
          continue;
        }
        if (producer == consumed) {
          if (recordRead) {
            recordRead = false;
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
        recordRead = true;
        int ahead = SendQueue.distance((int) producer, DoorbellRecord.receiveIndex(recordCopy));
        if (ahead <= entries) {
          producer += ahead;
        }
      } else {
        atHand = true;
      }
      if (producer != consumed) {
        recordRead = false;
      }
    }

    private void arrived(boolean ok) {
      failed |= !ok;
      arrived = true;
      queuePair.activate();
    }

    @Override
    public void consume() {
      consumed++;
      super.consume();
    }
  }
}
