package dev.doorbell.push;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.push.PushHeader;
import dev.doorbell.core.push.generated.PushCredit;
import dev.doorbell.push.Message.HeaderReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The consumer's side of one ring: takes committed messages in order, and gives slots back.
 *
 * <p>Its indices are those of the protocol: {@code released <= unacknowledged <= transmitted <=
 * rung} where slots are retained until acknowledged; else {@code unacknowledged <= released}.
 */
public final class SendRing implements MmioTarget {
  private static final int RECORD_BYTES = 64;
  private static final long LOOK_AGAIN_NANOS = 100;

  /** Messages whose payload is pulled ahead of their turn, at most. */
  private static final int PREFETCH = 16;

  final RingShape shape;
  private final PushEngine engine;
  private final int number;
  private final Allocation chip;
  private final Allocation page;
  private final Credit credit;
  private final Consumer<Message> onRead = this::hasRead;
  private final List<SendFlow> flows = new ArrayList<>();

  /** Fetched and not sent, from message {@code transmitted} on. */
  private final Deque<Message> waiting = new ArrayDeque<>();

  /** Sent and not acknowledged, in the order of the ring. */
  private final Deque<Message> sent = new ArrayDeque<>();

  /** Doorbells that arrived and were not looked at; 0 stands for one in pieces. */
  private final Deque<Long> doorbells = new ArrayDeque<>();

  private long rung;
  private long transmitted;
  private long unacknowledged;
  private long released;

  SendRing(PushEngine engine, int number, RingShape shape, long creditAddress) {
    this.engine = engine;
    this.number = number;
    this.shape = shape;
    long bytes =
        RECORD_BYTES
            + (long) shape.entries() * PushHeader.BYTES
            + Math.max(64, shape.stagingBytes());
    this.chip =
        engine.memory().allocate(MemoryKind.NIC, engine.locus, bytes, "push ring " + number);
    this.page =
        engine.memory().allocate(MemoryKind.UAR, engine.locus, 4096, "push doorbell " + number);
    this.credit = new Credit(creditAddress);
    this.rung = shape.first();
    this.transmitted = rung;
    this.unacknowledged = rung;
    this.released = rung;
    engine.port.onMmio(page.address(), this);
  }

  public long doorbellAddress() {
    return page.address();
  }

  /** On-chip memory of the ring: where it begins and how long it is. */
  public Allocation onChip() {
    return chip;
  }

  /** The address of the 64-bit committed index. */
  public long recordAddress() {
    return chip.address();
  }

  public long headers() {
    return chip.address() + RECORD_BYTES;
  }

  /** The address of the slots. */
  public long payload() {
    return headers() + (long) shape.entries() * PushHeader.BYTES;
  }

  public int number() {
    return number;
  }

  /** The last doorbell. */
  public long rung() {
    return rung;
  }

  /** Messages below were sent at least once. */
  public long transmitted() {
    return transmitted;
  }

  /** Messages below have arrived. */
  public long unacknowledged() {
    return unacknowledged;
  }

  /** Messages below have given their slot back. */
  public long released() {
    return released;
  }

  @Override
  public void mmioWrite(long address, long source, int bytes) {
    doorbells.add(
        address == page.address() && bytes == Long.BYTES ? RawMemory.getLong(source) : 0L);
  }

  /** Looks at what has arrived. */
  int pump() {
    int work = 0;
    for (; !doorbells.isEmpty(); work++) {
      takeDoorbell(doorbells.remove());
    }
    return work + fetch();
  }

  private void takeDoorbell(long value) {
    long index = value == 0 ? record() : value;
    // A later doorbell stands for all before it, and may come first.
    rung = Math.max(rung, index);
    event(value == 0 ? PushEvent.Kind.TORN_DOORBELL : PushEvent.Kind.DOORBELL, index);
  }

  private long record() {
    if (!engine.port.read(chip.address(), engine.scratch, Long.BYTES, ok -> {})) {
      throw new IllegalStateException("on-chip memory takes time, but a torn doorbell cannot wait");
    }
    return RawMemory.getLong(engine.scratch);
  }

  private int fetch() {
    int work = 0;
    while (waiting.size() < PREFETCH && transmitted + waiting.size() < rung) {
      Message message = make(transmitted + waiting.size());
      waiting.add(message);
      readHeader(message);
      work++;
    }
    return work;
  }

  private Message make(long index) {
    return new Message(onRead, index, shape.slotBytes());
  }

  private void readHeader(Message message) {
    long header = headers() + (message.index & (shape.entries() - 1)) * PushHeader.BYTES;
    message.reading = true;
    if (engine.port.read(header, message.buffer(), PushHeader.BYTES, message)) {
      hasRead(message);
    }
  }

  /** A read for a message has ended: of its header, or of its payload. */
  private void hasRead(Message message) {
    message.reading = false;
    if (!message.known) {
      takeHeader(message);
    } else if (message.intact()) {
      message.ready = true;
      event(message.staged ? PushEvent.Kind.READ : PushEvent.Kind.PULLED, message.index);
    } else {
      event(PushEvent.Kind.EARLY, message.index);
      lookAgain(message);
    }
  }

  private void takeHeader(Message message) {
    long header = message.buffer();
    int length = HeaderReader.bytes(header);
    boolean own =
        HeaderReader.isOf(header, message.index, shape.entries())
            && length >= 0
            && length <= shape.slotBytes();
    if (!own) {
      event(PushEvent.Kind.EARLY, message.index);
      lookAgain(message);
      return;
    }
    message.decode();
    flow(message.destination).want(rung - transmitted, message.bytes);
    if (!message.staged) {
      readPayload(message);
    }
  }

  private void lookAgain(Message message) {
    message.reading = true;
    engine.port.timer(
        LOOK_AGAIN_NANOS,
        ok -> {
          message.reading = false;
          if (message.known) {
            readPayload(message);
          } else {
            readHeader(message);
          }
          engine.wake();
        });
  }

  /** From the slot while the message has it, else from GPU memory. */
  private void readPayload(Message message) {
    boolean slot = message.staged && message.index >= released;
    message.staged = slot;
    long from = slot ? slot(message) : message.local;
    message.reading = true;
    if (engine.port.read(from, message.buffer(), message.bytes, message)) {
      hasRead(message);
    }
  }

  private long slot(Message message) {
    return payload() + (message.index & (shape.slots() - 1)) * shape.slotBytes();
  }

  /** The message that may go now: one that goes again before new ones. Null when none may. */
  @Nullable Message candidate() {
    for (int i = 0; i < flows.size(); i++) {
      Message again = flows.get(i).again();
      if (again != null) {
        return prepared(again);
      }
    }
    Message next = waiting.peek();
    if (next == null || !next.known || !flow(next.destination).admits(next)) {
      return null;
    }
    return prepared(next);
  }

  private @Nullable Message prepared(Message message) {
    if (!message.ready && !message.reading) {
      readPayload(message);
    }
    return message.ready ? message : null;
  }

  /** Returns true if the message has not been sent before. */
  boolean isNew(Message message) {
    return message.index == transmitted;
  }

  /** The engine starts to send a message. */
  void starts(Message message) {
    if (isNew(message)) {
      flow(message.destination).starts(message);
    }
  }

  /** The last byte of a message has left. */
  void hasSent(Message message, boolean anew) {
    message.ready = false;
    if (anew) {
      event(PushEvent.Kind.RETRANSMITTED, message.index);
    } else {
      waiting.remove();
      sent.add(message);
      transmitted++;
      event(PushEvent.Kind.TRANSMITTED, message.index);
      if (engine.options.release() == PushOptions.Release.TRANSMITTED) {
        release(transmitted);
      }
    }
    flow(message.destination).sent(message, anew);
  }

  /** A message of one of the flows has arrived. */
  void acknowledged(Message message) {
    event(PushEvent.Kind.ACKNOWLEDGED, message.index);
    Message oldest = sent.peek();
    long before = unacknowledged;
    while (oldest != null && oldest.acknowledged) {
      sent.remove();
      unacknowledged++;
      oldest = sent.peek();
    }
    if (unacknowledged > before) {
      release(Math.max(released, unacknowledged));
    }
  }

  private void release(long below) {
    if (below > released) {
      released = below;
      event(PushEvent.Kind.RELEASED, below);
    }
    credit.write();
  }

  /** A control frame for one of the flows. */
  void control(PushFrame frame) {
    SendFlow flow = flow(frame.source());
    switch (frame.kind) {
      case ACK -> flow.acknowledged(frame.sequence, frame.echo);
      case NAK -> {
        event(PushEvent.Kind.GAP, frame.sequence);
        flow.missing(frame.sequence);
      }
      case GRANT -> flow.granted(frame.limit);
      default -> throw new IllegalStateException("not a control frame: " + frame.kind);
    }
  }

  private SendFlow flow(int destination) {
    for (int i = 0; i < flows.size(); i++) {
      if (flows.get(i).destination == destination) {
        return flows.get(i);
      }
    }
    SendFlow made = new SendFlow(this, engine, destination);
    flows.add(made);
    return made;
  }

  void event(PushEvent.Kind kind, long index) {
    engine.observer.happened(
        new PushEvent(
            engine.port.now(),
            kind,
            engine.number(),
            number,
            index,
            rung,
            transmitted,
            unacknowledged,
            released));
  }

  /** Describes what it waits for, for reports. */
  public String state() {
    String text =
        "ring %d: db %d, tx %d, una %d, ci %d"
            .formatted(number, rung, transmitted, unacknowledged, released);
    return text + (flows.isEmpty() ? "" : "; " + flows);
  }

  void close() {
    engine.port.offMmio(page.address());
    engine.memory().free(page);
    engine.memory().free(chip);
  }

  /**
   * The credit of one ring: two absolute indices in GPU memory, written whenever one has changed,
   * and again a few times later, since a write may be lost.
   */
  private final class Credit implements Completion {
    private static final int REPEATS = 3;

    /** Time to the first repetition; each later one takes twice as long. */
    private static final long REPEAT_NANOS = 10_000;

    private final long address;
    private int repeats;
    private boolean timing;

    Credit(long address) {
      this.address = address;
    }

    /** The ring has moved on. */
    void write() {
      repeats = 0;
      put();
      if (!timing) {
        time();
      }
    }

    private void put() {
      RawMemory.putLong(engine.scratch + PushCredit.RELEASED, released);
      RawMemory.putLong(engine.scratch + PushCredit.ACKNOWLEDGED, unacknowledged);
      engine.port.write(engine.scratch, address, PushCredit.BYTES, false);
      event(PushEvent.Kind.CREDITED, released);
    }

    private void time() {
      timing = true;
      engine.port.timer(REPEAT_NANOS << repeats, this);
    }

    @Override
    public void completed(boolean ok) {
      timing = false;
      if (repeats < REPEATS) {
        repeats++;
        put();
        time();
      }
    }
  }
}
