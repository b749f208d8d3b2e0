package dev.doorbell.push.network;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.push.network.Network.Host;
import java.util.ArrayList;
import java.util.List;

/** Every host joined to every other one by a latency, and nothing that could fill. */
public final class Cable implements Network, AutoCloseable {
  /** Faults of frames on their way. */
  public interface Impairment {
    /** Nothing happens. */
    Impairment NONE = (frame, number) -> 1;

    /**
     * Number of copies of a frame that arrive: 0 loses it, 2 duplicates it.
     *
     * @param number of the frame, counted from 0 over all hosts
     */
    int copies(Frame frame, long number);

    /** Nanoseconds by which it is late; what was sent after it may overtake it. */
    default long late(Frame frame, long number) {
      return 0;
    }
  }

  private final Agent agent = new Agent.Passive();
  private final Fabric fabric;
  private final DevicePort port;
  private final long nanos;
  private final Impairment impairment;
  private final List<Host> hosts = new ArrayList<>();
  private final Frame.Hop end = this::arrive;
  private long sent;

  /**
   * A cable.
   *
   * @param at a place of the topology: whose clock is used
   * @param nanos one-way latency
   */
  public Cable(Fabric fabric, Locus at, long nanos, Impairment impairment) {
    this.fabric = fabric;
    this.port = fabric.attachDevice(at, agent);
    this.nanos = nanos;
    this.impairment = impairment;
  }

  @Override
  public int attach(Host host) {
    hosts.add(host);
    return hosts.size() - 1;
  }

  @Override
  public void send(Frame frame) {
    long number = sent++;
    int copies = impairment.copies(frame, number);
    if (copies == 0) {
      frame.lost();
      return;
    }
    frame.hop = end;
    long travel = nanos + impairment.late(frame, number);
    for (int i = 0; i < copies; i++) {
      port.timer(travel, frame);
    }
  }

  private void arrive(Frame frame) {
    hosts.get(frame.destination()).arrive(frame);
  }

  @Override
  public void close() {
    fabric.detach(agent);
  }
}
