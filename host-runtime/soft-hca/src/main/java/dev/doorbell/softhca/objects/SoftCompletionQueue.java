package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.LazyMemory;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.softhca.device.DelayLine;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.HcaTracer;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A completion queue: a ring, or one entry, in host or GPU memory, written by DMA. */
public final class SoftCompletionQueue extends Completions implements CompletionQueue, Owned {
  private static final int COUNTER_SHIFT = 8;

  private final ObjectOwner domain;
  private final HcaServices hca;
  private final @Nullable HcaTracer tracer;
  private final DevicePort port;
  private final int number;
  private CompletionQueueAttributes attributes;
  private Memory ring;
  private final Memory record;
  private long ringAddress;
  private int entries;

  /** log2 of the bytes of an entry, whose last {@link Cqe#BYTES} are the CQE. */
  private final int shift;

  private final boolean collapsed;
  private final boolean unlimited;
  private final boolean stamps;

  /** A CQE is put together here, then written in one transaction. */
  private final MemorySegment staging = LazyMemory.SPARSE.allocate(Cqe.BYTES + 8, Cqe.BYTES);

  private final long stagingAddress = staging.address();

  private int userIndex = QueuePairContext.UNNAMED;
  private long produced;
  private long consumed;
  private boolean overrun;
  private boolean reading;
  private final Completion recordRead = this::consumerRead;
  private final List<QueuePairContext> waiting = new ArrayList<>();
  private int users;

  /** Armed with {@link #armedIndex}, from the newest doorbell in {@link #armDoorbell}. */
  private boolean isArmed;

  private boolean armedSolicited;
  private long armedIndex;

  /**
   * One past the newest CQE that an event was about: none is about it again ({@code
   * last_notified_index}).
   */
  private long notified;

  /** One past the newest CQE that was solicited or an error. */
  private long urgent;

  private final @Nullable SoftCompletionChannel channel;
  private final Consumer<SoftCompletionQueue> onArmDoorbell;

  /** CQEs that a fault delays, and all behind them. */
  private final DelayLine<LateEntry> late;

  private volatile long armDoorbell;
  private DeviceUnit writer = DeviceUnit.UNWATCHED;
  private boolean closed;

  private record LateEntry(
      MemorySegment bytes, long address, int qpn, int wqeIndex, boolean urgent) {}

  /**
   * @param onArmDoorbell called on any thread after an arm doorbell; {@link #arm} has to follow on
   *     the thread that steps
   */
  public SoftCompletionQueue(
      ObjectOwner domain,
      HcaServices hca,
      int number,
      CompletionQueueAttributes attributes,
      Memory ring,
      Memory record,
      @Nullable SoftCompletionChannel channel,
      Consumer<SoftCompletionQueue> onArmDoorbell) {
    this.domain = domain;
    this.hca = hca;
    this.port = hca.port();
    this.tracer = hca.tracer();
    this.onArmDoorbell = onArmDoorbell;
    this.number = number;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    this.channel = channel;
    this.late =
        new DelayLine<>(
            port, e -> write(e.bytes.address(), e.address, e.qpn, e.wqeIndex, e.urgent));
    this.ringAddress = ring.address();
    this.entries = attributes.entries();
    this.shift = Integer.numberOfTrailingZeros(attributes.entryBytes());
    this.collapsed = attributes.collapsed();
    this.stamps = hca.options().timestamps();
    this.unlimited = attributes.ignoreOverrun() || attributes.collapsed();
    if (channel != null) {
      channel.use();
    }
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
  public void armed(long doorbell) {
    armDoorbell = doorbell;
    onArmDoorbell.accept(this);
  }

  /** Acts on the newest arm doorbell. */
  public void arm() {
    long doorbell = armDoorbell;
    // The doorbell holds 24 bits of a 64-bit count.
    int behind =
        ((int) produced - Doorbell.armConsumerIndex(doorbell)) << COUNTER_SHIFT >> COUNTER_SHIFT;
    armedIndex = produced - behind;
    armedSolicited = Doorbell.armSolicitedOnly(doorbell);
    isArmed = true;
    notifyIfDue();
  }

  private void notifyIfDue() {
    SoftCompletionChannel to = channel;
    long count = armedSolicited ? urgent : written();
    if (count > Math.max(armedIndex, notified)) {
      isArmed = false;
      notified = count;
      if (to != null) {
        to.post(this);
      }
    }
  }

  /** True when a CQE may be written and the consumer index need not be read for that. */
  private boolean hasRoom() {
    return unlimited || (produced - consumed < entries && !overrun);
  }

  @Override
  public int room(QueuePairContext queuePair) {
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

  /** The record holds 24 bits of a 64-bit count. */
  private void consumed(int low) {
    consumed += ((low - (int) consumed) << COUNTER_SHIFT) >> COUNTER_SHIFT;
  }

  /**
   * Continues in another ring. The last entry of the present one is a RESIZE_CQ; the poller moves
   * the CQEs before it over, each entry one place further on.
   *
   * @param to the ring, of {@code count} entries, which its driver has filled
   * @throws HcaException when there are more CQEs than {@code to} has room for, or no entry is free
   */
  public void resize(int count, Memory to) {
    consumed(DoorbellRecord.decodeConsumer((int) record.getLong(DoorbellRecord.CONSUMER_OFFSET)));
    long held = produced - consumed;
    if (collapsed || overrun || late.size() > 0 || held >= Math.min(entries, count)) {
      throw new HcaException(
          "cannot resize completion queue 0x%x of %s from %d to %d entries: %s"
              .formatted(number, hca.name(), entries, count, whyNot(held)),
          Errno.EINVAL);
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
            count,
            false,
            attributes.ignoreOverrun(),
            to.kind(),
            attributes.recordIn(),
            attributes.entryBytes());
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

  /** Activates {@code queuePair} after the next CQE, or when the consumer index was read. */
  public void await(QueuePairContext queuePair) {
    if (!waiting.contains(queuePair)) {
      waiting.add(queuePair);
    }
  }

  private void wakeWaiting() {
    for (QueuePairContext queuePair : waiting) {
      queuePair.activate();
    }
    waiting.clear();
  }

  /** CQEs that have been written, without those that a fault delays. */
  private long written() {
    return produced - late.size();
  }

  @Override
  public void writer(DeviceUnit unit) {
    writer = unit;
  }

  /** For fabrics that watch order: what a WAIT for the last CQE is ordered after. */
  public @Nullable Object knowledge() {
    return writer.departs(0);
  }

  /** True when the CQE with that 24-bit index has been written. */
  public boolean reached(int index) {
    return ((int) written() - 1 - index) << COUNTER_SHIFT >= 0;
  }

  @Override
  public void requester(int qpn, int opcode, int wqeIndex, int bytes) {
    boolean staged =
        tracer != null || hca.faults() != null || userIndex != QueuePairContext.UNNAMED;
    long inPlace = staged ? 0 : port.mapEntry(entry());
    long target = inPlace == 0 ? stagingAddress : inPlace;
    Cqe.writeRequester(target, opcode, qpn, wqeIndex, bytes, timestamp(), owner());
    if (inPlace == 0) {
      post(qpn, wqeIndex, false);
    } else {
      produced++;
      posted();
    }
  }

  @Override
  public void requesters(long count, int qpn, int opcode, int wqeIndex, int bytes) {
    produced += count - 1;
    requester(qpn, opcode, wqeIndex, bytes);
  }

  @Override
  public boolean isCollapsed() {
    return collapsed;
  }

  @Override
  public void responder(
      int opcode,
      int qpn,
      int userIndex,
      int receiveIndex,
      int bytes,
      int immediate,
      boolean solicited,
      int sender) {
    Cqe.writeResponder(
        stagingAddress,
        opcode,
        qpn,
        userIndex,
        receiveIndex,
        bytes,
        immediate,
        solicited,
        timestamp(),
        owner());
    if (sender != CONNECTED) {
      Cqe.putSender(stagingAddress, sender);
    }
    post(qpn, receiveIndex, solicited);
  }

  @Override
  public void error(
      int cqeOpcode, int syndrome, int vendorSyndrome, int opcode, int qpn, int wqeIndex) {
    int vendor =
        vendorSyndrome == VendorSyndrome.NONE ? VendorSyndrome.of(syndrome) : vendorSyndrome;
    ErrorCqe.write(stagingAddress, cqeOpcode, syndrome, vendor, opcode, qpn, wqeIndex, owner());
    post(qpn, wqeIndex, true);
  }

  private long timestamp() {
    return stamps ? port.now() : 0;
  }

  private int owner() {
    return collapsed ? 0 : Cqe.ownerFor(produced, entries);
  }

  @Override
  public void user(int userIndex) {
    this.userIndex = userIndex;
  }

  private void post(int qpn, int wqeIndex, boolean isUrgent) {
    if (userIndex != QueuePairContext.UNNAMED) {
      Cqe.putUserIndex(stagingAddress, userIndex);
    }
    long entry = entry();
    produced++;
    HcaFaults faults = hca.faults();
    if (faults != null) {
      long nanos = faults.lateness(qpn);
      if (nanos > 0 || late.size() > 0) {
        MemorySegment copy = Arena.ofAuto().allocate(Cqe.BYTES, Cqe.BYTES);
        RawMemory.copy(stagingAddress, copy.address(), Cqe.BYTES);
        late.add(new LateEntry(copy, entry, qpn, wqeIndex, isUrgent), nanos);
        return;
      }
    }
    write(stagingAddress, entry, qpn, wqeIndex, isUrgent);
  }

  /** Writes a CQE to its entry and notifies its waiters. */
  private void write(long source, long entry, int qpn, int wqeIndex, boolean isUrgent) {
    if (tracer != null) {
      tracer.completion(source, entry, qpn, wqeIndex & 0xffff);
    } else {
      port.writeEntry(source, entry);
    }
    if (isUrgent) {
      urgent = written();
    }
    posted();
  }

  /** Address of the next CQE. */
  private long entry() {
    long index = collapsed ? 0 : produced & (entries - 1);
    return ringAddress + ((index + 1) << shift) - Cqe.BYTES;
  }

  /** A CQE was written: notifies its waiters. */
  private void posted() {
    if (isArmed) {
      notifyIfDue();
    }
    if (!waiting.isEmpty()) {
      wakeWaiting();
    }
  }

  @Override
  public void use() {
    users++;
  }

  /** A shared receive queue completes here no longer. */
  void unuse() {
    users--;
  }

  @Override
  public void unuse(QueuePairContext queuePair) {
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
          Errno.EBUSY);
    }
    closed = true;
    late.drain(dropped -> {});
    if (channel != null) {
      channel.unuse(this);
    }
    domain.closing(this);
    ring.close();
    record.close();
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number);
  }

  /** Events of completion queues, oldest first. */
  public static final class SoftCompletionChannel implements CompletionChannel {
    private final HcaServices hca;
    private final ArrayDeque<SoftCompletionQueue> events = new ArrayDeque<>();
    private int users;

    public SoftCompletionChannel(HcaServices hca) {
      this.hca = hca;
    }

    public HcaServices hca() {
      return hca;
    }

    @Override
    public synchronized @Nullable CompletionQueue poll() {
      return events.poll();
    }

    synchronized void post(SoftCompletionQueue queue) {
      events.add(queue);
    }

    synchronized void use() {
      users++;
    }

    /** The queue is closed: its events are dropped. */
    synchronized void unuse(SoftCompletionQueue queue) {
      users--;
      while (events.remove(queue)) {
        // Once for every event.
      }
    }

    @Override
    public synchronized void close() {
      if (users > 0) {
        throw new HcaException(
            "cannot close a completion channel of %s: %d completion queue(s) still use it; close them first"
                .formatted(hca.name(), users),
            Errno.EBUSY);
      }
    }
  }
}
