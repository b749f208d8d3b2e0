package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A completion queue: a ring or one entry in somebody's memory, written by DMA. */
final class SoftCompletionQueue implements CompletionQueue {
  /** {@link #room}: a CQE may be written. */
  static final int ROOM = 0;

  /** {@link #room}: the consumer index is being read; the queue pair is woken then. */
  static final int WAIT = 1;

  /** {@link #room}: the queue has overrun and takes nothing any more. */
  static final int OVERRUN = 2;

  private static final int COUNTER_SHIFT = 8;

  private final SoftProtectionDomain domain;
  private final SoftHca hca;
  private final DevicePort port;
  private final int number;
  private CompletionQueueAttributes attributes;
  private Memory ring;
  private final Memory record;
  private long ringAddress;
  private int entries;
  private final boolean collapsed;
  private final boolean unlimited;

  /** A CQE is put together here, then written in one transaction. */
  private final MemorySegment staging = Arena.ofAuto().allocate(Cqe.BYTES + 8, Cqe.BYTES);

  private final long stagingAddress = staging.address();

  private long produced;
  private long consumed;
  private boolean overrun;
  private boolean reading;
  private final Completion recordRead = this::consumerRead;
  private final List<SoftQueuePair> waiting = new ArrayList<>();
  private int users;

  /** Armed with {@link #armedIndex}; whoever rings leaves the doorbell in {@link #armDoorbell}. */
  private boolean isArmed;

  private boolean armedSolicited;
  private long armedIndex;

  /** One past the newest CQE that was solicited or an error. */
  private long urgent;

  private final @Nullable SoftCompletionChannel channel;
  private final LateCompletions late;
  private volatile long armDoorbell;
  private DeviceUnit writer = DeviceUnit.UNWATCHED;
  final AtomicBoolean rung = new AtomicBoolean();
  volatile @Nullable SoftCompletionQueue nextRung;
  private boolean closed;

  SoftCompletionQueue(
      SoftProtectionDomain domain,
      int number,
      CompletionQueueAttributes attributes,
      Memory ring,
      Memory record,
      @Nullable SoftCompletionChannel channel) {
    this.domain = domain;
    this.hca = domain.softHca();
    this.port = hca.port;
    this.number = number;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    this.channel = channel;
    this.late = new LateCompletions(this, port);
    this.ringAddress = ring.address();
    this.entries = attributes.entries();
    this.collapsed = attributes.collapsed();
    this.unlimited = attributes.ignoreOverrun() || attributes.collapsed();
    if (channel != null) {
      channel.use();
    }
    ring.fill(0, ring.size(), Cqe.INITIAL_FILL);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public CompletionQueueAttributes attributes() {
    return attributes;
  }

  @Override
  public long ringAddress() {
    return ringAddress;
  }

  @Override
  public long recordAddress() {
    return record.address();
  }

  @Override
  public long armAddress() {
    return hca.uarPage() + Doorbell.ARM_OFFSET;
  }

  /** An arm doorbell was stored, on any thread. */
  void armed(long doorbell) {
    armDoorbell = doorbell;
    hca.engine.arm(this);
  }

  /** Acts on the newest arm doorbell. */
  void arm() {
    long doorbell = armDoorbell;
    // The doorbell holds 24 bits of a count that never stops.
    int behind =
        ((int) produced - Doorbell.armConsumerIndex(doorbell)) << COUNTER_SHIFT >> COUNTER_SHIFT;
    armedIndex = produced - behind;
    armedSolicited = Doorbell.armSolicitedOnly(doorbell);
    isArmed = true;
    tellIfDue();
  }

  private void tellIfDue() {
    SoftCompletionChannel to = channel;
    if ((armedSolicited ? urgent : written()) > armedIndex) {
      isArmed = false;
      if (to != null) {
        to.tell(this);
      }
    }
  }

  /** True when a CQE may be written and the consumer index need not be read for that. */
  boolean hasRoom() {
    return unlimited || (produced - consumed < entries && !overrun);
  }

  /** Whether a CQE may be written for {@code queuePair} now. */
  int room(SoftQueuePair queuePair) {
    if (hasRoom()) {
      return ROOM;
    }
    if (overrun) {
      return OVERRUN;
    }
    if (!reading) {
      reading = true;
      boolean now =
          port.read(
              record.address() + DoorbellRecord.CONSUMER_OFFSET,
              stagingAddress + Cqe.BYTES,
              Integer.BYTES,
              recordRead);
      if (now) {
        consumerRead(true);
        return overrun ? OVERRUN : ROOM;
      }
    }
    await(queuePair);
    return WAIT;
  }

  private void consumerRead(boolean ok) {
    reading = false;
    consumed(DoorbellRecord.consumerIndex(stagingAddress + Cqe.BYTES));
    if (!ok || produced - consumed >= entries) {
      overrun = true;
      hca.raise(AsyncEvent.Type.CQ_ERROR, number);
    }
    wakeWaiting();
  }

  /** The record holds 24 bits of a count that never stops. */
  private void consumed(int low) {
    consumed += ((low - (int) consumed) << COUNTER_SHIFT) >> COUNTER_SHIFT;
  }

  /**
   * Goes on in another ring. The last entry of the present one says so; whoever polls moves what is
   * before it over, each entry one place further on.
   *
   * @param to the ring, of {@code count} entries
   * @throws HcaException when there are more CQEs than {@code to} has room for, or no entry is free
   */
  void resize(int count, Memory to) {
    consumed(DoorbellRecord.decodeConsumer((int) record.getLong(DoorbellRecord.CONSUMER_OFFSET)));
    long held = produced - consumed;
    if (collapsed || overrun || late.size() > 0 || held >= Math.min(entries, count)) {
      throw new HcaException(
          "cannot resize completion queue 0x%x of %s from %d to %d entries: %s"
              .formatted(number, hca.name(), entries, count, whyNot(held)),
          HcaErrno.EINVAL);
    }
    Cqe.writeResize(stagingAddress, owner());
    port.writeEntry(stagingAddress, entry());
    produced++;
    ring.close();
    ring = to;
    ringAddress = to.address();
    entries = count;
    attributes =
        new CompletionQueueAttributes(
            count, false, attributes.ignoreOverrun(), to.kind(), attributes.recordIn());
    to.fill(0, to.size(), Cqe.INITIAL_FILL);
  }

  private String whyNot(long held) {
    if (collapsed) {
      return "it is collapsed";
    }
    if (overrun) {
      return "it has overrun";
    }
    return "%d CQEs were not polled yet; poll them first".formatted(held);
  }

  /** Wakes {@code queuePair} after the next CQE, or when the consumer index is known. */
  void await(SoftQueuePair queuePair) {
    if (!waiting.contains(queuePair)) {
      waiting.add(queuePair);
    }
  }

  private void wakeWaiting() {
    for (SoftQueuePair queuePair : waiting) {
      queuePair.activate();
    }
    waiting.clear();
  }

  /** CQEs that have been written, without those that a fault holds back. */
  private long written() {
    return produced - late.size();
  }

  /** CQEs come from {@code unit} from now on. */
  void writer(DeviceUnit unit) {
    writer = unit;
  }

  /** What a queue learns that has waited for the last CQE. */
  @Nullable Object told() {
    return writer.departs(0);
  }

  /** True when the CQE with that 24-bit index has been written. */
  boolean reached(int index) {
    return ((int) written() - 1 - index) << COUNTER_SHIFT >= 0;
  }

  /** Writes a requester's CQE. */
  void requester(int qpn, int opcode, int wqeIndex, int bytes) {
    long inPlace = hca.tracing || hca.faults != null ? 0 : port.mapEntry(entry());
    long target = inPlace == 0 ? stagingAddress : inPlace;
    Cqe.writeRequester(target, opcode, qpn, wqeIndex, bytes, 0, owner());
    if (inPlace == 0) {
      post(qpn, wqeIndex, false);
    } else {
      produced++;
      posted();
    }
  }

  /**
   * {@code count} CQEs of a requester that follow each other were due at once; there is one entry
   * for all of them, where only the last is ever seen.
   */
  void requesters(long count, int qpn, int opcode, int wqeIndex, int bytes) {
    produced += count - 1;
    requester(qpn, opcode, wqeIndex, bytes);
  }

  boolean isCollapsed() {
    return collapsed;
  }

  /** Writes a responder's CQE. */
  void responder(
      int opcode,
      int qpn,
      int userIndex,
      int receiveIndex,
      int bytes,
      int immediate,
      boolean solicited) {
    Cqe.writeResponder(
        stagingAddress,
        opcode,
        qpn,
        userIndex,
        receiveIndex,
        bytes,
        immediate,
        solicited,
        0,
        owner());
    post(qpn, receiveIndex, solicited);
  }

  /** Writes a responder's CQE of a datagram, which says who sent it. */
  void datagram(
      int opcode,
      int qpn,
      int userIndex,
      int receiveIndex,
      int bytes,
      int immediate,
      boolean solicited,
      int remoteQpn) {
    Cqe.writeResponder(
        stagingAddress,
        opcode,
        qpn,
        userIndex,
        receiveIndex,
        bytes,
        immediate,
        solicited,
        0,
        owner());
    Cqe.putRemote(stagingAddress, remoteQpn, true);
    post(qpn, receiveIndex, solicited);
  }

  /** Writes an error CQE. */
  void error(int cqeOpcode, int syndrome, int vendorSyndrome, int opcode, int qpn, int wqeIndex) {
    ErrorCqe.write(
        stagingAddress, cqeOpcode, syndrome, vendorSyndrome, opcode, qpn, wqeIndex, owner());
    post(qpn, wqeIndex, true);
  }

  private int owner() {
    return collapsed ? 0 : Cqe.ownerFor(produced, entries);
  }

  private void post(int qpn, int wqeIndex, boolean isUrgent) {
    long entry = entry();
    produced++;
    if (hca.faults != null) {
      long nanos = hca.faults.lateness(qpn);
      if (nanos > 0 || late.size() > 0) {
        late.add(stagingAddress, entry, qpn, wqeIndex, isUrgent, nanos);
        return;
      }
    }
    write(stagingAddress, entry, qpn, wqeIndex, isUrgent);
  }

  /** Writes a CQE that has its place, and tells whoever waits for it. */
  void write(long source, long entry, int qpn, int wqeIndex, boolean isUrgent) {
    if (hca.tracing) {
      hca.tracer.completion(source, entry, qpn, wqeIndex & 0xffff);
    } else {
      port.writeEntry(source, entry);
    }
    if (isUrgent) {
      urgent = written();
    }
    posted();
  }

  /** Where the next CQE goes. */
  private long entry() {
    return collapsed ? ringAddress : Cqe.entryAddress(ringAddress, entries, produced);
  }

  /** Tells who waits for a CQE. */
  private void posted() {
    if (isArmed) {
      tellIfDue();
    }
    if (!waiting.isEmpty()) {
      wakeWaiting();
    }
  }

  /** A queue pair uses it from now on. */
  void use() {
    users++;
  }

  /** A queue pair uses it no longer. */
  void unuse(SoftQueuePair queuePair) {
    users--;
    waiting.remove(queuePair);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(
          "cannot close completion queue 0x%x of %s: %d queue(s) still complete into it; close their queue pairs first"
              .formatted(number, hca.name(), users),
          HcaErrno.EBUSY);
    }
    closed = true;
    late.drop();
    if (channel != null) {
      channel.unuse(this);
    }
    domain.closed(this);
    ring.close();
    record.close();
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number);
  }
}
