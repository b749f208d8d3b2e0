package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.memory.LazyMemory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SharedBuffer;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.Uar;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the producer index of a send queue and provides its WQEs: in place where the fabric allows
 * that, else in a mirror of the ring that DMA reads fill ahead of use.
 *
 * <p>A doorbell's index is taken as it is. Anything else that arrives at the register - an index
 * that is not ahead, several doorbells at once, a part of a WQE - makes the HCA read the doorbell
 * record, which is authoritative.
 */
public final class WqeSource {
  private static final int NONE = -2;
  private static final long NO_RING = 0;
  private static final int FETCHES = 8;
  private static final int HINTS = 16;

  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final DevicePort port;
  private final long ring;
  private final int ringBlocks;
  private final long record;
  private final int prefetchBlocks;
  private final long doorbellNanos;
  private final SharedBuffer buffer;
  private final SharedBuffer.Turn turn;

  /** Native address of the ring or of its mirror. */
  final long base;

  private final boolean inPlace;
  private final @Nullable MemorySegment mirror;
  private final long recordInPlace;
  private final long recordCopy;

  /** The newest doorbell index that was not handled; set by the storing thread. */
  private final AtomicInteger hint = new AtomicInteger(NONE);

  private final BlueFlameBuffer blueFlame;

  // Doorbell indices in the doorbell stage (HcaTiming.doorbellNanos).
  private final int[] queued = new int[HINTS];
  private int queuedHead;
  private int queuedCount;
  private int handledDue;
  private final Completion doorbellCompletion = this::doorbellHandled;

  private boolean recordReading;
  private boolean recordArrived;
  private boolean readAgain;
  private final Completion recordCompletion = this::recordRead;

  /** 64-bit block indices: posted, requested, fetched, completed. */
  long producer;

  private long issued;
  private long fetched;
  private long retired;

  private final @Nullable Fetch[] fetches = new Fetch[FETCHES];
  private int fetchHead;
  private int fetchCount;

  /** True when a DMA read of WQEs or of the record was refused. */
  boolean failed;

  /** One DMA read of WQEs. */
  private final class Fetch implements Completion {
    private int blocks;

    /** Bytes of the read; {@link #blocks} may count others behind it. */
    private int requested;

    private boolean done;

    @Override
    public void completed(boolean ok) {
      done = true;
      buffer.release(requested);
      failed |= !ok;
      queuePair.activate();
    }
  }

  /**
   * @param ring address of the send ring of {@code ringBlocks} 64-byte blocks
   * @param record address of the doorbell record
   */
  public WqeSource(
      QueuePairContext queuePair, HcaServices hca, long ring, int ringBlocks, long record) {
    SoftHcaOptions options = hca.options();
    this.queuePair = queuePair;
    this.hca = hca;
    this.port = hca.port();
    this.buffer = hca.pipeline().fetches();
    this.turn = new SharedBuffer.Turn(queuePair::activateFromOutside);
    this.ring = ring;
    this.ringBlocks = ringBlocks;
    this.record = record;
    this.prefetchBlocks = options.engine().prefetchBlocks();
    this.doorbellNanos = options.timing().doorbellNanos();
    this.blueFlame = new BlueFlameBuffer(options.limits().blueFlameBytes());
    long bytes = (long) ringBlocks << SendQueue.BLOCK_SHIFT;
    if (ring == NO_RING) {
      mirror = LazyMemory.SPARSE.allocate(bytes, SendQueue.BLOCK);
      base = mirror.address();
      inPlace = true;
      recordInPlace = 0;
      recordCopy = 0;
      return;
    }
    long inPlaceRing = port.map(ring, (int) bytes);
    recordInPlace = port.map(record, DoorbellRecord.BYTES);
    inPlace = inPlaceRing != 0 && recordInPlace != 0;
    if (inPlace) {
      mirror = null;
      base = inPlaceRing;
      recordCopy = 0;
    } else {
      // The record lies on the page of the first WQEs.
      mirror = LazyMemory.SPARSE.allocate(SendQueue.BLOCK + bytes, SendQueue.BLOCK);
      recordCopy = mirror.address();
      base = recordCopy + SendQueue.BLOCK;
    }
  }

  /** A source with a ring of the HCA's own, which {@link #append} fills. */
  public WqeSource(QueuePairContext queuePair, HcaServices hca, int ringBlocks) {
    this(queuePair, hca, NO_RING, ringBlocks, NO_RING);
  }

  /** Index of the next block of a ring of the HCA's own. */
  public long next() {
    return producer;
  }

  /** Free blocks of a ring of the HCA's own. */
  public int room() {
    return (int) (retired + ringBlocks - producer);
  }

  /**
   * Adds a WQE to a ring of the HCA's own, which has room for it.
   *
   * @param wqe native address
   * @param units of 16 bytes
   */
  public void append(long wqe, int units) {
    SendQueue.copyIn(base, ringBlocks, producer, units, wqe);
    producer += SendQueue.blocks(units);
  }

  /** A whole WQE from a BlueFlame register. On any thread. */
  public void offerBlueFlame(long source, int bytes) {
    blueFlame.offer(source, bytes);
  }

  /**
   * Something arrived at the doorbell register. On any thread.
   *
   * @param index the 16-bit producer index that came with it, or {@link Uar#NO_INDEX}
   */
  public void ring(int index) {
    if (hint.getAndSet(index) != NONE) {
      // Which of several indices is the newest is unknown.
      hint.set(Uar.NO_INDEX);
    }
  }

  /** The block index up to which WQEs are at hand. */
  long available() {
    return inPlace ? producer : fetched;
  }

  /** Native address of a 16-byte unit of the WQE at {@code index}. */
  long unit(long index, int unit) {
    return SendQueue.unitAddress(base, ringBlocks, index, unit);
  }

  /** First address after the memory that units stand in: inline data goes on at its start. */
  long end() {
    return base + ((long) ringBlocks << SendQueue.BLOCK_SHIFT);
  }

  /** Blocks below {@code index} are complete. */
  void retire(long index) {
    retired = index;
  }

  /** Makes whatever progress is possible: doorbells, record, fetches. */
  public void run() {
    if (hint.get() != NONE) {
      int index = hint.getAndSet(NONE);
      HcaFaults faults = hca.faults();
      Fault fault = faults == null ? null : faults.onDoorbell(queuePair);
      if (fault == null || isHandledNow(fault, index)) {
        onDoorbell(index);
      }
    }
    while (handledDue > 0) {
      handledDue--;
      queuedCount--;
      int index = queued[queuedHead];
      queuedHead = (queuedHead + 1) & (HINTS - 1);
      apply(index);
    }
    if (recordArrived) {
      recordArrived = false;
      recordReading = false;
      accept(DoorbellRecord.sendIndex(recordCopy));
      if (readAgain) {
        readAgain = false;
        readRecord();
      }
    }
    if (!inPlace) {
      fetch();
      buffer.end(turn);
    }
  }

  /** Nothing is fetched any more: the queue pair was reset or closed. */
  public void discard() {
    buffer.cancel(turn);
  }

  /** Carries out a fault of a doorbell; true when the doorbell is to be handled now. */
  @SuppressWarnings("RefactorSwitch") // two branches end in the handler of a late doorbell
  private boolean isHandledNow(Fault fault, int index) {
    switch (fault.action()) {
      case DOORBELL_LOST -> {
        blueFlame.release();
        return false;
      }
      case DOORBELL_LATE -> {
        port.timer(
            fault.nanos(),
            ok -> {
              onDoorbell(index);
              queuePair.activateFromOutside();
            });
        return false;
      }
      case DOORBELL_TWICE -> {
        onDoorbell(index);
        return true;
      }
      default -> {
        // A stale record names nothing new. A WQE that came with the doorbell needs no record.
        return blueFlame.isFull();
      }
    }
  }

  /** Reads the doorbell record: the queue pair has become able to send. */
  public void readRecord() {
    if (record == NO_RING) {
      return;
    }
    if (inPlace) {
      accept(DoorbellRecord.sendIndex(recordInPlace));
    } else if (recordReading) {
      readAgain = true;
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

  /** Handles a doorbell, now or after the doorbell stage. */
  private void onDoorbell(int index) {
    if (blueFlame.isFull() && takeBlueFlame() && index == ((int) producer & SendQueue.INDEX_MASK)) {
      return;
    }
    if (doorbellNanos == 0) {
      apply(index);
      return;
    }
    if (queuedCount == HINTS) {
      queued[(queuedHead + queuedCount - 1) & (HINTS - 1)] = Uar.NO_INDEX;
      return;
    }
    queued[(queuedHead + queuedCount++) & (HINTS - 1)] = index;
    if (port.delay(doorbellNanos, doorbellCompletion)) {
      handledDue++;
    }
  }

  private void doorbellHandled(boolean ok) {
    handledDue++;
    queuePair.activate();
  }

  private void apply(int index) {
    if (index == Uar.NO_INDEX || !accept(index)) {
      readRecord();
    }
  }

  /** Advances the producer index if {@code index} is ahead by at most the ring. */
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
          fetch(fetchCount - 1).blocks += blocks;
        }
      }
      producer += blocks;
    }
    blueFlame.release();
    return taken;
  }

  /** The fetch that many behind the oldest one. */
  private Fetch fetch(int behind) {
    int index = (fetchHead + behind) & (FETCHES - 1);
    Fetch known = fetches[index];
    if (known == null) {
      known = new Fetch();
      fetches[index] = known;
    }
    return known;
  }

  private void fetch() {
    while (fetchCount > 0 && fetch(0).done) {
      fetched += fetch(0).blocks;
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
      if (blocks <= 0 || !buffer.take(turn, blocks << SendQueue.BLOCK_SHIFT)) {
        return;
      }
      Fetch fetch = fetch(fetchCount);
      fetch.blocks = blocks;
      fetch.done = false;
      issued += blocks;
      fetchCount++;
      long offset = (long) slot << SendQueue.BLOCK_SHIFT;
      queuePair.requests.serves(issued - blocks);
      fetch.requested = blocks << SendQueue.BLOCK_SHIFT;
      if (port.read(ring + offset, base + offset, fetch.requested, fetch)) {
        fetch.done = true;
        buffer.release(fetch.requested);
        queuePair.activate();
      }
    }
  }

  /** A WQE that was stored to a BlueFlame register, complete. One thread fills it at a time. */
  private static final class BlueFlameBuffer {
    private final MemorySegment bytes;
    private final AtomicInteger full = new AtomicInteger();

    BlueFlameBuffer(int capacity) {
      bytes = LazyMemory.SPARSE.allocate(Math.max(capacity, 1), SendQueue.BLOCK);
    }

    long address() {
      return bytes.address();
    }

    boolean isFull() {
      return full.getAcquire() != 0;
    }

    /** Copies a WQE in, unless the last one was not handled yet. */
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
