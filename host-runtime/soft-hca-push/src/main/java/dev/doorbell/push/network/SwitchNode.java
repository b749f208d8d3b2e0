package dev.doorbell.push.network;

import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One switch: its buffer, and what is admitted, marked and paused. */
final class SwitchNode {
  final int number;
  private final SwitchedNetwork.Wiring wiring;
  private final QueueOptions options;
  private final @Nullable QueuedPort[] hosts;
  private final @Nullable QueuedPort[] trunks;
  final List<QueuedPort> ports = new ArrayList<>();
  private long used;

  SwitchNode(int number, SwitchedNetwork.Wiring wiring, NetworkPlan plan) {
    this.number = number;
    this.wiring = wiring;
    this.options = wiring.options;
    this.hosts = new QueuedPort[plan.leaves().size()];
    this.trunks = new QueuedPort[plan.trunks().size()];
  }

  QueuedPort host(int host, String name) {
    return port(hosts, host, name);
  }

  QueuedPort trunk(int trunk, String name) {
    return port(trunks, trunk, name);
  }

  private QueuedPort port(@Nullable QueuedPort[] in, int key, String name) {
    QueuedPort port = new QueuedPort(name);
    in[key] = port;
    ports.add(port);
    return port;
  }

  private QueuedPort towards(Frame frame) {
    int leaf = wiring.paths.leaves[frame.destination()];
    return Objects.requireNonNull(
        leaf == number
            ? hosts[frame.destination()]
            : trunks[wiring.paths.trunk(number, leaf, frame.flow)]);
  }

  private double limit() {
    return options.threshold() * (options.bufferBytes() - used);
  }

  /** A frame is in: it joins a queue or is lost. */
  void enter(Frame frame, Ingress from) {
    QueuedPort to = towards(frame);
    int bytes = frame.bytes();
    frame.ingress = from;
    frame.inHeadroom = false;
    if (options.pauses()) {
      boolean exceeds = from.shared + bytes > limit() || used + bytes > options.bufferBytes();
      if (from.paused || exceeds) {
        if (from.headroom + bytes > options.headroomBytes()) {
          wiring.lose(frame);
          return;
        }
        frame.inHeadroom = true;
        from.headroom += bytes;
        if (!from.paused) {
          pause(from, true);
        }
      }
    } else if (to.queued() + bytes > limit() || used + bytes > options.bufferBytes()) {
      wiring.lose(frame);
      return;
    }
    if (!frame.inHeadroom) {
      from.shared += bytes;
      used += bytes;
    }
    double chance = options.marking().chance(to.queued());
    if (chance > 0 && (chance >= 1 || wiring.random.nextDouble() < chance)) {
      frame.mark();
      wiring.marked++;
    }
    if (!from.paused && from.shared > options.pause().above()) {
      pause(from, true);
    }
    to.add(frame);
  }

  /** A frame has left the switch. */
  void left(Frame frame) {
    Ingress from = frame.ingress;
    if (from == null) {
      throw new IllegalStateException("a frame left that had not come in");
    }
    if (frame.inHeadroom) {
      from.headroom -= frame.bytes();
    } else {
      from.shared -= frame.bytes();
      used -= frame.bytes();
    }
    // With headroom it resumes at half of the threshold, so that pauses do not follow each other
    // frame by frame.
    double resume = options.pauses() ? limit() / 2 : options.pause().below();
    if (from.paused && from.headroom == 0 && from.shared <= resume) {
      pause(from, false);
    }
  }

  private void pause(Ingress from, boolean stop) {
    from.paused = stop;
    wiring.pauses += stop ? 1 : 0;
    wiring.clock.timer(options.cableNanos(), ok -> from.sender.pause(stop));
  }

  /**
   * A port in of a switch: what came in by it and has not left, and whether its sender is paused.
   */
  final class Ingress implements Frame.Hop {
    /** Stops or resumes the sender at the other end of the cable. */
    interface Pause {
      void pause(boolean paused);
    }

    private final Pause sender;

    /** Bytes in the shared buffer and in the headroom. */
    long shared;

    long headroom;
    boolean paused;

    Ingress(Pause sender) {
      this.sender = sender;
    }

    @Override
    public void reached(Frame frame) {
      enter(frame, this);
    }
  }

  /** A port out of a switch: frames in order, urgent ones first, at the rate of the port. */
  final class QueuedPort {
    private static final double PICOS_PER_NANO = 1000;

    private final String name;
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

    QueuedPort(String name) {
      this.name = name;
    }

    /**
     * @param latencyNanos from the last byte out until {@code to} gets the frame
     */
    void leadsTo(Frame.Hop to, long latencyNanos) {
      this.next = to;
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
      (frame.urgent ? urgent : others).add(frame);
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
      left(frame);
      frame.hop = next;
      wiring.clock.timer(latencyNanos, frame);
      start();
    }
  }
}
