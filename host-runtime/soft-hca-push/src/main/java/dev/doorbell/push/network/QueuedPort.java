package dev.doorbell.push.network;

import java.util.ArrayDeque;
import java.util.function.Consumer;

/** A port out of a switch: frames in order, urgent ones first, at the rate of the port. */
final class QueuedPort {
  private static final double PICOS_PER_NANO = 1000;

  private final String name;
  private final SwitchNode node;
  private final SwitchedNetwork.Wiring wiring;
  private final ArrayDeque<Frame> urgent = new ArrayDeque<>();
  private final ArrayDeque<Frame> others = new ArrayDeque<>();
  private final Frame.Hop exit = this::sent;
  private Frame.Hop next = frame -> {};
  private long latencyNanos;
  private long queued;
  private long most;
  private long freePicos;
  private boolean sending;
  private boolean paused;

  // Bytes times nanoseconds up to the last change.
  private double integral;
  private long changedAt;
  private long firstAt = -1;

  QueuedPort(String name, SwitchNode node, SwitchedNetwork.Wiring wiring) {
    this.name = name;
    this.node = node;
    this.wiring = wiring;
  }

  /**
   * @param latencyNanos from the last byte out until {@code to} gets the frame
   */
  void leadsTo(Consumer<Frame> to, long latencyNanos) {
    this.next = to::accept;
    this.latencyNanos = latencyNanos;
  }

  long queued() {
    return queued;
  }

  SwitchedNetwork.Load load(long now) {
    count(now);
    return new SwitchedNetwork.Load(
        name, firstAt < 0 || now == firstAt ? 0 : integral / (now - firstAt), most);
  }

  private void count(long now) {
    if (firstAt < 0) {
      return;
    }
    integral += (double) queued * (now - changedAt);
    changedAt = now;
  }

  void add(Frame frame) {
    long now = wiring.clock.now();
    if (firstAt < 0) {
      firstAt = now;
      changedAt = now;
    }
    count(now);
    queued += frame.bytes();
    most = Math.max(most, queued);
    (frame.urgent() ? urgent : others).add(frame);
    if (!sending) {
      start();
    }
  }

  void pause(boolean stop) {
    paused = stop;
    if (!stop && !sending) {
      start();
    }
  }

  private void start() {
    Frame frame = urgent.isEmpty() && !paused ? others.poll() : urgent.poll();
    sending = frame != null;
    if (frame == null) {
      return;
    }
    frame.hop = exit;
    long now = Math.round(wiring.clock.now() * PICOS_PER_NANO);
    // Whole nanoseconds of the clock, but no drift over many frames.
    freePicos =
        Math.max(freePicos, now)
            + Math.round(frame.bytes() * PICOS_PER_NANO / wiring.options.bytesPerNano());
    wiring.clock.timer(Math.round((freePicos - now) / PICOS_PER_NANO), frame);
  }

  private void sent(Frame frame) {
    count(wiring.clock.now());
    queued -= frame.bytes();
    node.left(frame);
    if (node.stopped()) {
      wiring.lose(frame);
    } else {
      frame.hop = next;
      wiring.clock.timer(latencyNanos, frame);
    }
    start();
  }
}
