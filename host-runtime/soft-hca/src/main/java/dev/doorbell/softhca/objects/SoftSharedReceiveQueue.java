package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.SharedReceiveSegment;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A list of receive WQEs that queue pairs take from its head. Each WQE names the next one unless
 * the list is cyclic, so one is read at a time; other queue pairs that need a WQE wait meanwhile.
 */
public final class SoftSharedReceiveQueue implements SharedReceiveQueue, Owned {
  private enum Step {
    IDLE,
    RECORD,
    WQE
  }

  private final ObjectOwner domain;
  private final HcaServices hca;
  private final DevicePort port;
  private final int number;
  private final SharedReceiveQueueAttributes attributes;
  private final Memory ring;
  private final Memory record;
  private final MemorySegment recordCopy = Arena.ofAuto().allocate(DoorbellRecord.BYTES, 8);
  private final Completion completion = this::arrived;

  /** WQEs posted and taken, not cut to 16 bits, and the slot of the next one. */
  private long producer;

  private long taken;
  private int head;

  private Step step = Step.IDLE;
  private boolean arrived;
  private boolean failed;

  /** The record was read and named no new WQE. */
  private boolean recordRead;

  private @Nullable SharedReceiveSource claimant;
  private final List<QueuePairContext> waiting = new ArrayList<>();
  private int limit;
  private int users;
  private boolean closed;

  public SoftSharedReceiveQueue(
      ObjectOwner domain,
      HcaServices hca,
      int number,
      SharedReceiveQueueAttributes attributes,
      Memory ring,
      Memory record) {
    this.domain = domain;
    this.hca = hca;
    this.port = hca.port();
    this.number = number;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public SharedReceiveQueueAttributes attributes() {
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
  public void armLimit(int limit) {
    if (limit < 0 || limit > attributes.entries()) {
      throw new HcaException(
          "the limit of %s is %d; it must be from 0 to its %d entries"
              .formatted(this, limit, attributes.entries()),
          Errno.EINVAL);
    }
    this.limit = limit;
    if (limit > 0 && step == Step.IDLE) {
      checkLimit();
    }
  }

  /**
   * Takes the WQE at the head for {@code who}, into its staging: {@link ReceiveSource#READY} etc.
   */
  private int take(SharedReceiveSource who) {
    while (!who.atHand) {
      if (step != Step.IDLE) {
        if (!arrived) {
          if (!waiting.contains(who.queuePair)) {
            waiting.add(who.queuePair);
          }
          return ReceiveSource.WAIT;
        }
        finish();
      } else if (producer != taken) {
        claimant = who;
        begin(
            Step.WQE,
            SharedReceiveSegment.wqeAddress(ring.address(), attributes.stride(), head),
            who.wqe,
            attributes.stride());
      } else if (recordRead) {
        recordRead = false;
        return ReceiveSource.EMPTY;
      } else {
        readRecord();
      }
    }
    return ReceiveSource.READY;
  }

  private void readRecord() {
    begin(
        Step.RECORD,
        record.address() + DoorbellRecord.RECEIVE_OFFSET,
        recordCopy.address(),
        Integer.BYTES);
  }

  private void begin(Step next, long address, long target, int bytes) {
    step = next;
    arrived = port.read(address, target, bytes, completion);
  }

  private void finish() {
    Step done = step;
    step = Step.IDLE;
    if (done == Step.RECORD) {
      recordRead = true;
      int index = DoorbellRecord.receiveIndex(recordCopy.address());
      int ahead = SendQueue.distance((int) producer, index);
      if (ahead <= attributes.entries()) {
        producer += ahead;
      }
      if (producer != taken) {
        recordRead = false;
      }
      if (producer - taken < limit) {
        limit = 0;
        hca.raise(AsyncEvent.Type.SRQ_LIMIT_REACHED, number);
      }
    } else {
      SharedReceiveSource owner = claimant;
      claimant = null;
      if (owner != null) {
        // The WQE of a queue pair that was closed meanwhile is lost with it.
        owner.atHand = !owner.released;
        owner.slot = head;
        int next = attributes.cyclic() ? head + 1 : SharedReceiveSegment.next(owner.wqe);
        head = next & (attributes.entries() - 1);
        taken++;
        if (producer - taken < limit) {
          checkLimit();
        }
      }
    }
  }

  /** Reads the record: more WQEs may have been posted since the last read. */
  private void checkLimit() {
    readRecord();
    if (arrived) {
      finish();
    }
  }

  private void arrived(boolean ok) {
    if (!ok && !failed) {
      failed = true;
      hca.raise(AsyncEvent.Type.SRQ_ERROR, number);
    }
    SharedReceiveSource owner = claimant;
    finish();
    if (owner != null) {
      owner.queuePair.activate();
    }
    for (QueuePairContext queuePair : waiting) {
      queuePair.activate();
    }
    waiting.clear();
  }

  /** The source of a queue pair's receive WQEs. */
  public ReceiveSource source(QueuePairContext queuePair) {
    return new SharedReceiveSource(queuePair);
  }

  public void use() {
    users++;
  }

  public void unuse() {
    users--;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(
          "cannot close %s of %s: %d queue pair(s) still take from it; close them first"
              .formatted(this, hca.name(), users),
          Errno.EBUSY);
    }
    closed = true;
    domain.closing(this);
    ring.close();
    record.close();
  }

  @Override
  public String toString() {
    return "shared receive queue 0x%x".formatted(number);
  }

  /** A queue pair's source of receive WQEs in a shared receive queue, one WQE per message. */
  final class SharedReceiveSource extends ReceiveSource {
    final QueuePairContext queuePair;
    private final MemorySegment staging;

    /** Native address of the WQE in use, next segment first. */
    final long wqe;

    /** The slot of the WQE in use. */
    int slot;

    boolean released;

    SharedReceiveSource(QueuePairContext queuePair) {
      this.queuePair = queuePair;
      this.staging = Arena.ofAuto().allocate(attributes.stride(), Long.BYTES);
      this.wqe = staging.address();
    }

    @Override
    public int prepare() {
      return atHand ? READY : SoftSharedReceiveQueue.this.take(this);
    }

    @Override
    public boolean failed() {
      return SoftSharedReceiveQueue.this.failed;
    }

    @Override
    public long index() {
      return slot;
    }

    @Override
    public int segments() {
      return attributes.segments();
    }

    @Override
    public long segment(int number) {
      return wqe + SharedReceiveSegment.BYTES + (long) number * ReceiveSegment.BYTES;
    }

    @Override
    public void release() {
      super.release();
      released = true;
      waiting.remove(queuePair);
    }

    @Override
    public int userIndex() {
      return number;
    }

    @Override
    public boolean isOwn() {
      return false;
    }
  }
}
