package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.timed.device.TimedDevicePort;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.thread.ThreadScheduler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A node of the world: the ranks that share links and memory. It touches nothing of others, so that
 * one host thread may simulate it while another one simulates the next.
 */
final class LogicalProcess {
  final EventQueue queue;
  final Interconnect interconnect;
  final ThreadScheduler threads;

  private final IdentityHashMap<Agent, List<TimedDevicePort>> devices = new IdentityHashMap<>();

  /** Tasks that other nodes have left here, by any thread. */
  private final ConcurrentLinkedQueue<Visit> visits = new ConcurrentLinkedQueue<>();

  /** A task for an agent of this node. */
  private record Visit(Agent agent, Runnable task) {}

  LogicalProcess(Interconnect interconnect) {
    this.queue = interconnect.queue();
    this.interconnect = interconnect;
    this.threads = new ThreadScheduler(interconnect);
  }

  void add(Agent agent, TimedDevicePort port) {
    devices.computeIfAbsent(agent, key -> new ArrayList<>(1)).add(port);
  }

  void detach(Agent agent) {
    threads.detach(agent);
    List<TimedDevicePort> closed = devices.remove(agent);
    if (closed != null) {
      for (TimedDevicePort port : closed) {
        port.detach();
      }
    }
  }

  void wake(Agent agent) {
    threads.wake(agent);
    devices(agent).forEach(TimedDevicePort::step);
  }

  private List<TimedDevicePort> devices(Agent agent) {
    return devices.getOrDefault(agent, List.of());
  }

  Collection<List<TimedDevicePort>> devices() {
    return devices.values();
  }

  /** Leaves a task for {@code agent}, which is done between two windows; on any host thread. */
  void visit(Agent agent, Runnable task) {
    visits.add(new Visit(agent, task));
  }

  /** Carries out what was left, in the order of the devices, not of arrival. */
  void receive() {
    if (visits.isEmpty()) {
      return;
    }
    List<Visit> now = new ArrayList<>();
    for (Visit visit = visits.poll(); visit != null; visit = visits.poll()) {
      now.add(visit);
    }
    now.sort(Comparator.comparingLong(visit -> number(visit.agent)));
    now.forEach(visit -> visit.task.run());
  }

  private long number(Agent agent) {
    List<TimedDevicePort> ports = devices(agent);
    return ports.isEmpty() ? -1 : ports.getFirst().number();
  }
}
