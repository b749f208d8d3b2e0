package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Finds out how far a send queue was posted and has its WQEs at hand: in place where the fabric
 * allows that, else in a mirror of the ring that DMA reads fill ahead of use.
 *
 * <p>A doorbell's index is taken as it is. Anything else that arrives at the register - an index
 * that is not ahead, several doorbells at once, a part of a WQE - makes the HCA look at the
 * doorbell record, which is the truth.
 */
final class WqeSource {
  /** A hint without an index. */
  static final int LOOK = -1;

  private static final int NONE = -2;
  private static final int FETCHES = 8;
  private static final int HINTS = 16;

  private final SoftQueuePair queuePair;
  private final DevicePort port;
  private final long ring;
  private final int ringBlocks;
  private final long record;
  private final int prefetchBlocks;
  private final long doorbellNanos;

  /** The ring or its mirror, and why it stays reachable. */
  private final long base;

  private final boolean inPlace;
  private final @Nullable MemorySegment mirror;
  private final long recordInPlace;
  private final long recordCopy;

  /** Set by the storing thread. */
  private final AtomicInteger hint = new AtomicInteger(NONE);

  private final BlueFlameBuffer blueFlame;

  // Hints that the HCA has heard of and works on: p_db.
  private final int[] heard = new int[HINTS];
  private int heardHead;
  private int heardCount;
  private int heardDue;
  private final Completion heardCompletion = this::doorbellHandled;

  private boolean recordReading;
  private boolean recordArrived;
  private boolean lookAgain;
  private final Completion recordCompletion = this::recordRead;

  /** Block indices, not cut to 16 bits: posted, asked for, at hand, not needed any more. */
  private long producer;

  private long issued;
  private long fetched;
  private long retired;

  private final Fetch[] fetches = new Fetch[FETCHES];
  private int fetchHead;
  private int fetchCount;
  private boolean failed;

  /** One DMA read of WQEs. */
  private final class Fetch implements Completion {
    private int blocks;
    private boolean done;

    @Override
    public void completed(boolean ok) {
      done = true;
      failed |= !ok;
      queuePair.activate();
    }
  }

  WqeSource(SoftQueuePair queuePair, DevicePort port, long ring, int ringBlocks, long record) {
    SoftHca hca = queuePair.hca;
    this.queuePair = queuePair;
    this.port = port;
    this.ring = ring;
    this.ringBlocks = ringBlocks;
    this.record = record;
    this.prefetchBlocks = hca.options.engine().prefetchBlocks();
    this.doorbellNanos = hca.timing.doorbellNanos();
    this.blueFlame = new BlueFlameBuffer(hca.options.limits().blueFlameBytes());
    long bytes = (long) ringBlocks << SendQueue.BLOCK_SHIFT;
    long inPlaceRing = port.map(ring, (int) bytes);
    recordInPlace = port.map(record, DoorbellRecord.BYTES);
    inPlace = inPlaceRing != 0 && recordInPlace != 0;
    if (inPlace) {
      mirror = null;
      base = inPlaceRing;
      recordCopy = 0;
    } else {
      mirror = Arena.ofAuto().allocate(bytes + Long.BYTES, SendQueue.BLOCK);
      base = mirror.address();
      recordCopy = base + bytes;
      for (int i = 0; i < FETCHES; i++) {
        fetches[i] = new Fetch();
      }
    }
  }

  /** Where whole WQEs from BlueFlame writes are put. */
  BlueFlameBuffer blueFlame() {
    return blueFlame;
  }

  /**
   * Something arrived at the doorbell register. On any thread.
   *
   * @param index the 16-bit producer index that came with it, or {@link #LOOK}
   */
  void ring(int index) {
    if (hint.getAndSet(index) != NONE) {
      // Nobody knows which of several indices is the newest.
      hint.set(LOOK);
    }
  }

  /** The block index up to which the queue was posted, as far as the HCA knows. */
  long producer() {
    return producer;
  }

  /** True when WQEs are read where they were posted. */
  boolean isInPlace() {
    return inPlace;
  }

  /** The block index up to which WQEs are at hand. */
  long available() {
    return inPlace ? producer : fetched;
  }

  /** True when a DMA read of WQEs or of the record was refused. */
  boolean failed() {
    return failed;
  }

  /** Native address of a 16-byte unit of the WQE at {@code index}. */
  long unit(long index, int unit) {
    return SendQueue.unitAddress(base, ringBlocks, index, unit);
  }

  /** First address after the memory that units stand in: inline data goes on at its start. */
  long end() {
    return base + ((long) ringBlocks << SendQueue.BLOCK_SHIFT);
  }

  /** First address of the memory that units stand in. */
  long start() {
    return base;
  }

  /** Blocks below {@code index} are not needed any more. */
  void retire(long index) {
    retired = index;
  }

  /** Moves on what can move on: hints, record, fetches. */
  void run() {
    if (hint.get() != NONE) {
      int index = hint.getAndSet(NONE);
      HcaFaults faults = queuePair.hca.faults;
      if (faults == null || faults.hears(queuePair, this, index)) {
        hear(index);
      }
    }
    while (heardDue > 0) {
      heardDue--;
      heardCount--;
      int index = heard[heardHead];
      heardHead = (heardHead + 1) & (HINTS - 1);
      act(index);
    }
    if (recordArrived) {
      recordArrived = false;
      recordReading = false;
      accept(DoorbellRecord.sendIndex(recordCopy));
      if (lookAgain) {
        lookAgain = false;
        look();
      }
    }
    if (!inPlace) {
      fetch();
    }
  }

  /** Looks at the record: the queue pair has become able to send. */
  void look() {
    if (inPlace) {
      accept(DoorbellRecord.sendIndex(recordInPlace));
    } else if (recordReading) {
      lookAgain = true;
    } else {
      recordReading = true;
      if (port.read(
          record + DoorbellRecord.SEND_OFFSET,
          recordCopy + DoorbellRecord.SEND_OFFSET,
          Integer.BYTES,
          recordCompletion)) {
        recordArrived = true;
        queuePair.activate();
      }
    }
  }

  private void recordRead(boolean ok) {
    recordArrived = true;
    failed |= !ok;
    queuePair.activate();
  }

  /** Acts on a doorbell, now or when the HCA has handled it. */
  void hear(int index) {
    if (blueFlame.isFull() && takeBlueFlame() && index == ((int) producer & SendQueue.INDEX_MASK)) {
      return;
    }
    if (doorbellNanos == 0) {
      act(index);
      return;
    }
    if (heardCount == HINTS) {
      heard[(heardHead + heardCount - 1) & (HINTS - 1)] = LOOK;
      return;
    }
    heard[(heardHead + heardCount++) & (HINTS - 1)] = index;
    if (port.delay(doorbellNanos, heardCompletion)) {
      heardDue++;
    }
  }

  private void doorbellHandled(boolean ok) {
    heardDue++;
    queuePair.activate();
  }

  private void act(int index) {
    if (index == LOOK || !accept(index)) {
      look();
    }
  }

  /** Moves the producer index on, if {@code index} is ahead by no more than the ring. */
  private boolean accept(int index) {
    int ahead = SendQueue.distance((int) producer, index);
    if (ahead == 0 || ahead > ringBlocks) {
      return false;
    }
    producer += ahead;
    return true;
  }

  /** Takes the WQE that came with the doorbell, if it is the next one and nothing is behind. */
  private boolean takeBlueFlame() {
    long wqe = blueFlame.address();
    int ds = ControlSegment.ds(wqe);
    int blocks = SendQueue.blocks(ds);
    boolean taken =
        (inPlace || issued == producer)
            && ControlSegment.wqeIndex(wqe) == ((int) producer & SendQueue.INDEX_MASK)
            && blocks <= ringBlocks;
    if (taken) {
      if (!inPlace) {
        SendQueue.copyIn(base, ringBlocks, producer, ds, wqe);
        issued += blocks;
        // Reads that are on their way fill earlier blocks; these follow when those are here.
        if (fetchCount == 0) {
          fetched = issued;
        } else {
          tail().blocks += blocks;
        }
      }
      producer += blocks;
    }
    blueFlame.release();
    return taken;
  }

  private Fetch tail() {
    return fetches[(fetchHead + fetchCount - 1) & (FETCHES - 1)];
  }

  private void fetch() {
    while (fetchCount > 0 && fetches[fetchHead].done) {
      fetched += fetches[fetchHead].blocks;
      fetchHead = (fetchHead + 1) & (FETCHES - 1);
      fetchCount--;
    }
    while (issued < producer && fetchCount < FETCHES && !failed) {
      int slot = SendQueue.slot(issued, ringBlocks);
      long free = retired + ringBlocks - issued;
      int blocks =
          (int)
              Math.min(
                  Math.min(producer - issued, prefetchBlocks), Math.min(free, ringBlocks - slot));
      if (blocks <= 0) {
        return;
      }
      Fetch fetch = fetches[(fetchHead + fetchCount) & (FETCHES - 1)];
      fetch.blocks = blocks;
      fetch.done = false;
      issued += blocks;
      fetchCount++;
      long offset = (long) slot << SendQueue.BLOCK_SHIFT;
      queuePair.requests.serves(issued - blocks);
      if (port.read(ring + offset, base + offset, blocks << SendQueue.BLOCK_SHIFT, fetch)) {
        fetch.done = true;
        queuePair.activate();
      }
    }
  }

  /** A WQE that was stored to a BlueFlame register, complete. One thread fills it at a time. */
  static final class BlueFlameBuffer {
    private final MemorySegment bytes;
    private final AtomicInteger full = new AtomicInteger();

    BlueFlameBuffer(int capacity) {
      bytes = Arena.ofAuto().allocate(Math.max(capacity, 1), SendQueue.BLOCK);
    }

    long address() {
      return bytes.address();
    }

    boolean isFull() {
      return full.getAcquire() != 0;
    }

    /** Copies a WQE in, unless the last one was not looked at yet. */
    void offer(long source, int length) {
      if (full.getAcquire() == 0) {
        RawMemory.copy(source, bytes.address(), length);
        full.setRelease(1);
      }
    }

    void release() {
      full.setRelease(0);
    }
  }
}
