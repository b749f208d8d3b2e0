package dev.doorbell.push.network;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One switch: its buffer, and what is admitted, marked and paused. */
final class SwitchNode {
  private final int number;
  private final SwitchedNetwork.Wiring wiring;
  private final QueueOptions options;
  private final NetworkPlan plan;
  private final Map<Integer, QueuedPort> hosts = new LinkedHashMap<>();
  private final Map<Integer, QueuedPort> trunks = new LinkedHashMap<>();
  private final List<QueuedPort> ports = new ArrayList<>();
  private long used;
  private boolean stopped;

  SwitchNode(int number, SwitchedNetwork.Wiring wiring, NetworkPlan plan) {
    this.number = number;
    this.wiring = wiring;
    this.options = wiring.options;
    this.plan = plan;
  }

  int number() {
    return number;
  }

  List<QueuedPort> ports() {
    return ports;
  }

  QueuedPort host(int host, String name) {
    return port(hosts, host, name);
  }

  QueuedPort trunk(int trunk, String name) {
    return port(trunks, trunk, name);
  }

  private QueuedPort port(Map<Integer, QueuedPort> in, int key, String name) {
    QueuedPort port = new QueuedPort(name, this, wiring);
    in.put(key, port);
    ports.add(port);
    return port;
  }

  /** The port out, or null where failures have left no way. */
  private @Nullable QueuedPort towards(Frame frame) {
    int leaf = plan.leaves().get(frame.destination());
    return leaf == number
        ? hosts.get(frame.destination())
        : trunks.get(wiring.paths.trunk(number, leaf, frame.flow()));
  }

  void stop() {
    stopped = true;
  }

  boolean stopped() {
    return stopped;
  }

  private double limit() {
    return options.threshold() * (options.bufferBytes() - used);
  }

  /** A frame is in: it joins a queue or is lost. */
  void enter(Frame frame, Ingress from) {
    QueuedPort to = stopped ? null : towards(frame);
    if (to == null) {
      wiring.lose(frame);
      return;
    }
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
    to.add(frame);
  }

  /** A frame has left the switch. */
  void left(Frame frame) {
    Ingress from = frame.ingress;
    if (from == null) {
      throw new IllegalStateException("a frame left that had not come in");
    }
    wiring.forwarded++;
    if (frame.inHeadroom) {
      from.headroom -= frame.bytes();
    } else {
      from.shared -= frame.bytes();
      used -= frame.bytes();
    }
    // Resumes at half of the threshold, so that pauses do not follow each other frame by frame.
    if (from.paused && from.headroom == 0 && from.shared <= limit() / 2) {
      pause(from, false);
    }
  }

  private void pause(Ingress from, boolean stop) {
    from.paused = stop;
    wiring.pauses += stop ? 1 : 0;
    wiring.clock.timer(options.cableNanos(), ok -> from.arrived(stop));
  }
}
