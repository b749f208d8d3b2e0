package dev.doorbell.push.network;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.push.network.Network.Host;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A switch with a port for each host: output queues that drain at a rate out of one shared buffer,
 * ECN marks by queue length, PFC pauses by what each host has in the buffer, losses when it is
 * full.
 *
 * <p>Store and forward: a frame joins the queue of its port when its last byte is in.
 */
public final class Switch implements Network, AutoCloseable {
  private static final double PICOS_PER_NANO = 1000;

  /** Counters of frames. */
  public record Counters(long lost, long marked, long pauses, long mostBytes) {}

  private final Agent agent = new Agent.Passive();
  private final Fabric fabric;
  private final DevicePort clock;
  private final SwitchOptions options;
  private final List<Port> ports = new ArrayList<>();
  private final Frame.Hop entry = this::enter;
  private final Frame.Hop exit = this::leave;
  private final Frame.Hop end = this::arrive;
  private long used;
  private long lost;
  private long marked;
  private long pauses;
  private long mostBytes;

  /** The side of a host: the queue towards it, and what it has in the buffer. */
  private static final class Port {
    final Host host;
    final ArrayDeque<Frame> queue = new ArrayDeque<>();
    long queued;
    long owned;
    long freePicos;
    boolean sending;
    boolean paused;

    Port(Host host) {
      this.host = host;
    }
  }

  /**
   * A switch.
   *
   * @param at a place of the topology: whose clock is used
   */
  public Switch(Fabric fabric, Locus at, SwitchOptions options) {
    this.fabric = fabric;
    this.clock = fabric.attachDevice(at, agent);
    this.options = options;
  }

  @Override
  public int attach(Host host) {
    ports.add(new Port(host));
    return ports.size() - 1;
  }

  @Override
  public void send(Frame frame) {
    frame.hop = entry;
    clock.timer(options.nanos(), frame);
  }

  public Counters counters() {
    return new Counters(lost, marked, pauses, mostBytes);
  }

  private void enter(Frame frame) {
    if (used + frame.bytes() > options.bufferBytes()) {
      lost++;
      frame.lost();
      return;
    }
    Port from = ports.get(frame.source());
    Port to = ports.get(frame.destination());
    if (options.markBytes() > 0 && to.queued > options.markBytes()) {
      frame.mark();
      marked++;
    }
    used += frame.bytes();
    mostBytes = Math.max(mostBytes, used);
    from.owned += frame.bytes();
    to.queued += frame.bytes();
    to.queue.add(frame);
    if (options.pauseBytes() > 0 && !from.paused && from.owned > options.pauseBytes()) {
      pause(from, true);
      pauses++;
    }
    if (!to.sending) {
      start(to);
    }
  }

  private void pause(Port port, boolean paused) {
    port.paused = paused;
    clock.timer(options.nanos(), ok -> port.host.pause(paused));
  }

  private void start(Port port) {
    Frame frame = port.queue.peek();
    port.sending = frame != null;
    if (frame == null) {
      return;
    }
    frame.hop = exit;
    long now = Math.round(clock.now() * PICOS_PER_NANO);
    // Whole nanoseconds of the clock, but no drift over many frames.
    port.freePicos =
        Math.max(port.freePicos, now)
            + Math.round(frame.bytes() * PICOS_PER_NANO / options.bytesPerNano());
    clock.timer(Math.round((port.freePicos - now) / PICOS_PER_NANO), frame);
  }

  private void leave(Frame frame) {
    Port from = ports.get(frame.source());
    Port to = ports.get(frame.destination());
    to.queue.remove();
    to.queued -= frame.bytes();
    from.owned -= frame.bytes();
    used -= frame.bytes();
    if (from.paused && from.owned <= options.resumeBytes()) {
      pause(from, false);
    }
    frame.hop = end;
    clock.timer(options.nanos(), frame);
    start(to);
  }

  private void arrive(Frame frame) {
    ports.get(frame.destination()).host.arrive(frame);
  }

  @Override
  public void close() {
    fabric.detach(agent);
  }

  /**
   * Options of a {@link Switch}.
   *
   * @param nanos one-way latency of each cable: from host to switch, and from switch to host
   * @param bytesPerNano rate at which each port sends
   * @param bufferBytes of the buffer that all ports share; a frame that finds no room is lost
   * @param markBytes a frame that finds more than this in its port's queue is marked (ECN); 0 marks
   *     nothing
   * @param pauseBytes a host with more than this in the buffer is paused (PFC, XOFF); 0 pauses
   *     nobody. Nothing is lost only where the buffer has room above the thresholds for what is
   *     under way when the pause arrives
   * @param resumeBytes it may go on when it has no more than this there (XON)
   */
  public record SwitchOptions(
      long nanos,
      double bytesPerNano,
      int bufferBytes,
      int markBytes,
      int pauseBytes,
      int resumeBytes) {

    public SwitchOptions {
      if (nanos < 0 || !(bytesPerNano > 0) || bufferBytes <= 0) {
        throw new IllegalArgumentException(
            "latency %d ns, rate %s bytes/ns, buffer %d bytes"
                .formatted(nanos, bytesPerNano, bufferBytes));
      }
      if (markBytes < 0 || pauseBytes < 0 || resumeBytes < 0 || resumeBytes > pauseBytes) {
        throw new IllegalArgumentException(
            "mark %d, pause %d, resume %d bytes".formatted(markBytes, pauseBytes, resumeBytes));
      }
    }
  }
}
