package dev.doorbell.push;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.push.PushOptions.WindowOptions;
import dev.doorbell.push.PushOptions.WindowOptions.Window;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one ring to one peer, in order: what is on the network, how much may be, and what
 * has to go again (go-back-N). Counts are 64-bit; on the wire they have {@link #SEQUENCE_BITS}.
 */
final class SendFlow implements Completion {
  static final int SEQUENCE_BITS = 24;
  static final int SEQUENCE_MASK = (1 << SEQUENCE_BITS) - 1;

  private final SendRing ring;
  private final PushEngine engine;
  final int destination;
  private final Window window;
  private final List<Message> inFlight = new ArrayList<>();
  private final boolean granted;
  private long next;
  private long inFlightBytes;
  private long limit;
  private long requested;
  private int resendAt = -1;
  private boolean timing;

  SendFlow(SendRing ring, PushEngine engine, int destination) {
    this.ring = ring;
    this.engine = engine;
    this.destination = destination;
    PushOptions options = engine.options;
    this.window = options.window().open();
    this.granted = options.window().policy() == WindowOptions.Policy.GRANTED;
    this.next = ring.shape.first();
    this.limit = granted ? next : Long.MAX_VALUE;
    this.requested = next;
  }

  /** The 64-bit count nearest to {@code near} whose last bits are {@code sequence}. */
  static long widen(int sequence, long near) {
    int shift = Integer.SIZE - SEQUENCE_BITS;
    return near + ((sequence - (int) near) << shift >> shift);
  }

  /** Returns true if a new message may go. */
  boolean admits(Message message) {
    return resendAt < 0 && next < limit && window.admits(inFlightBytes, message.bytes);
  }

  /** The message that has to go again next, or null. */
  @Nullable Message again() {
    return resendAt < 0 ? null : inFlight.get(resendAt);
  }

  /** Asks for grants for what waits. */
  void want(long messages, int bytes) {
    if (granted && next + messages > requested) {
      requested = next + messages;
      request(bytes);
    }
  }

  private void request(int bytes) {
    engine.control(
        PushFrame.Kind.REQUEST, destination, ring.number(), bytes, (int) requested & SEQUENCE_MASK);
    startTimer();
  }

  /** A message goes for the first time. */
  void starts(Message message) {
    message.sequence = (int) next++ & SEQUENCE_MASK;
    message.sentAt = engine.port.now();
    inFlight.add(message);
    inFlightBytes += message.bytes;
  }

  /** A message has left, for the first time or again. */
  void sent(Message message, boolean anew) {
    message.sentAt = engine.port.now();
    if (anew && resendAt >= 0) {
      resendAt = resendAt + 1 < inFlight.size() ? resendAt + 1 : -1;
    }
    startTimer();
  }

  /** Everything below {@code sequence} has arrived. */
  void acknowledged(int sequence, boolean marked) {
    long below = widen(sequence, next);
    int count = (int) (below - (next - inFlight.size()));
    for (int i = 0; i < Math.min(count, inFlight.size()); i++) {
      Message message = inFlight.get(i);
      message.acknowledged = true;
      inFlightBytes -= message.bytes;
      window.acknowledged(message.bytes, marked);
      ring.acknowledged(message);
    }
    if (count > 0) {
      inFlight.subList(0, Math.min(count, inFlight.size())).clear();
      resendAt = resendAt < 0 || inFlight.isEmpty() ? -1 : Math.max(0, resendAt - count);
    }
  }

  /** The peer misses {@code sequence}: from there on everything goes again. */
  void missing(int sequence) {
    acknowledged(sequence, false);
    if (inFlight.isEmpty()) {
      return;
    }
    resendAt = 0;
    window.lost();
  }

  /** The receiver lets everything below {@code sequence} go. */
  void granted(int sequence) {
    limit = Math.max(limit, widen(sequence, limit));
  }

  private void startTimer() {
    if (!timing) {
      timing = true;
      engine.port.timer(engine.options.retryNanos(), this);
    }
  }

  /** Looks whether the oldest message, or a request, has waited too long. */
  @Override
  public void completed(boolean ok) {
    timing = false;
    if (!inFlight.isEmpty()) {
      Message oldest = inFlight.getFirst();
      long waited = engine.port.now() - oldest.sentAt;
      if (waited >= engine.options.retryNanos() && resendAt < 0) {
        ring.event(PushEvent.Kind.TIMEOUT, oldest.index);
        resendAt = 0;
        window.lost();
      }
      startTimer();
      engine.wake();
    } else if (granted && next < requested) {
      request(ring.shape.slotBytes());
    }
  }

  @Override
  public String toString() {
    return "to %d: %d in flight, %s"
        .formatted(destination, inFlight.size(), resendAt < 0 ? "none to repeat" : "repeating");
  }
}
