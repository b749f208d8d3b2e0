package dev.doorbell.push;

import dev.doorbell.core.fabric.Completion;

/** What one peer's ring sends to this engine: which message is next, and room for it. */
final class ReceiveFlow implements Completion {
  final int source;
  final int ring;
  private final PushEngine engine;
  private final PushReceiver receiver;
  private long expected;
  private long consumed;
  private boolean consuming;
  private boolean gapSaid;

  /** Messages that the sender has to send, and may send: counts as {@link #expected}. */
  private long wanted;

  private long granted;
  private int grantedBytes = 1;

  ReceiveFlow(PushReceiver receiver, PushEngine engine, int source, int ring, long first) {
    this.receiver = receiver;
    this.engine = engine;
    this.source = source;
    this.ring = ring;
    this.expected = first;
    this.consumed = first;
    this.wanted = first;
    this.granted = first;
  }

  /** Messages that arrived in order. */
  long expected() {
    return expected;
  }

  void data(PushFrame frame) {
    long count = SendFlow.widen(frame.sequence, expected);
    if (count < expected) {
      receiver.event(PushEvent.Kind.DUPLICATE, this, frame.index);
      acknowledge(frame.congested());
    } else if (count > expected) {
      receiver.event(PushEvent.Kind.OUT_OF_ORDER, this, frame.index);
      if (!gapSaid) {
        gapSaid = true;
        say(PushFrame.Kind.NAK, false);
      }
    } else if (room() == 0) {
      say(PushFrame.Kind.NOT_READY, false);
    } else {
      take(frame);
    }
  }

  private void take(PushFrame frame) {
    gapSaid = false;
    expected++;
    receiver.store(this, frame);
    if (engine.options.receiving().messages() > 0) {
      consume();
    }
    acknowledge(frame.congested());
    if (expected > granted) {
      granted = expected;
    }
    receiver.grant();
  }

  private void consume() {
    if (!consuming) {
      consuming = true;
      engine.port.timer(engine.options.receiving().consumeNanos(), this);
    }
  }

  /** A message is consumed. */
  @Override
  public void completed(boolean ok) {
    consuming = false;
    boolean full = room() == 0;
    consumed++;
    if (consumed < expected) {
      consume();
    }
    if (full && engine.options.receiving().announced()) {
      acknowledge(false);
    }
  }

  private long room() {
    int messages = engine.options.receiving().messages();
    return messages == 0 ? Integer.MAX_VALUE : messages - (expected - consumed);
  }

  private void acknowledge(boolean marked) {
    say(PushFrame.Kind.ACK, marked);
  }

  private void say(PushFrame.Kind kind, boolean marked) {
    long limit = expected + Math.min(room(), SendFlow.SEQUENCE_MASK >> 2);
    engine.reply(kind, source, ring, (int) expected, marked, (int) limit);
  }

  void request(int bytes, int limit) {
    grantedBytes = Math.max(1, bytes);
    wanted = Math.max(wanted, SendFlow.widen(limit, wanted));
    // What was granted and not used may have been lost on the way.
    if (granted > expected) {
      engine.reply(PushFrame.Kind.GRANT, source, ring, 0, false, (int) granted);
    }
    receiver.grant();
  }

  /** Bytes that may be on their way. */
  long outstanding() {
    return (granted - expected) * grantedBytes;
  }

  /** Grants a message more. */
  boolean grant(long bytes) {
    if (granted >= wanted || grantedBytes > bytes) {
      return false;
    }
    granted++;
    engine.reply(PushFrame.Kind.GRANT, source, ring, 0, false, (int) granted);
    return true;
  }
}
