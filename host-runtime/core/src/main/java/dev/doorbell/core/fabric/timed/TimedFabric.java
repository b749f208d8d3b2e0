package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Pipeline;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.device.TimedDevicePort;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.processor.Processor;
import dev.doorbell.core.fabric.timed.thread.ThreadScheduler;
import dev.doorbell.core.fabric.timed.thread.TimedThreadPort;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The fabric of virtual time: a discrete-event simulation of one {@link Topology}, driven by what
 * the agents do.
 *
 * <p>GPU and CPU threads have clocks of their own and pay for what they execute; their stores to
 * other components become TLPs that take their time on every link, and are visible when they
 * arrive. Devices take no time of their own but what they ask for ({@link DevicePort#delay}) and
 * what their DMA takes. Everything happens in the order of virtual time on the one host thread that
 * calls {@link #run}; the same agents, topology and seed give the same times to the last bit.
 *
 * <p>Its clock counts picoseconds and starts at 0.
 */
public final class TimedFabric extends Fabric {
  /** From how many ranks on it pays that each runs ahead of the others. */
  private static final int MANY_RANKS = 32;

  private final AddressSpace memory;
  private final Topology topology;
  private final Interconnect interconnect;
  private final EventQueue queue;
  private final ThreadScheduler threads;
  private final IdentityHashMap<Agent, List<TimedDevicePort>> devices = new IdentityHashMap<>();
  private long attached;
  private int mostReads;

  /** A fabric over a new address space. */
  public TimedFabric(Topology topology, long seed) {
    this(topology, AddressSpace.reserve(), seed);
  }

  /**
   * A fabric over {@code memory}, which it owns.
   *
   * @param seed of the jitter, where the topology has any
   */
  public TimedFabric(Topology topology, AddressSpace memory, long seed) {
    this.topology = topology;
    this.memory = memory;
    this.interconnect = new Interconnect(this, memory, topology, seed);
    this.queue = interconnect.queue();
    this.threads = new ThreadScheduler(interconnect);
  }

  /** What this fabric simulates. */
  public Topology topology() {
    return topology;
  }

  @Override
  public AddressSpace memory() {
    return memory;
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    return attachThread(locus, Processor.NO_BLOCK, agent);
  }

  @Override
  public ThreadPort attachThread(Locus locus, long block, Agent agent) {
    TimedThreadPort port = threads.attach(locus, block, agent, attached++);
    if (threads.hasThreadsOfCpus()) {
      queue.lookahead(0, 0);
    }
    return port;
  }

  @Override
  public boolean hasLoadsAhead() {
    return true;
  }

  @Override
  public Pipeline pipeline(Locus locus) {
    if (locus.part() != Locus.Part.GPU) {
      return Pipeline.NONE;
    }
    GpuPrices prices = topology.gpus().get(locus.index());
    GpuRefinements.Latencies latencies = prices.finer().latencies();
    if (latencies.equals(GpuRefinements.Latencies.NONE)) {
      return Pipeline.NONE;
    }
    return new Pipeline(
        Picos.of(prices.instruction()),
        Picos.of(latencies.result()),
        Picos.of(latencies.decision()),
        Picos.of(latencies.jump()),
        Picos.of(latencies.call()));
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    TimedDevicePort port =
        new TimedDevicePort(interconnect, interconnect.component(locus), agent, attached++);
    queue.lookahead(0, 0); // until the next run asks it
    devices.computeIfAbsent(agent, key -> new ArrayList<>(1)).add(port);
    return port;
  }

  @Override
  public void detach(Agent agent) {
    threads.detach(agent);
    List<TimedDevicePort> closed = devices.remove(agent);
    if (closed != null) {
      for (TimedDevicePort port : closed) {
        port.detach();
        mostReads = Math.max(mostReads, port.mostReads());
      }
    }
  }

  @Override
  public void wake(Agent agent) {
    threads.wake(agent);
    devices.getOrDefault(agent, List.of()).forEach(TimedDevicePort::step);
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long clock = queue.clock();
    long room = (Long.MAX_VALUE - clock) / Picos.PER_NANO;
    long deadline = nanos >= room ? Long.MAX_VALUE : clock + nanos * Picos.PER_NANO;
    wakeAll();
    queue.lookahead(lookahead(), deadline);
    while (!done.getAsBoolean()) {
      Event event = queue.poll();
      if (event == null) {
        return RunOutcome.STALLED;
      }
      if (threads.isDeadlocked(queue)) {
        queue.schedule(event, event.time());
        queue.rest();
        return RunOutcome.STALLED;
      }
      if (event.time() > deadline) {
        queue.schedule(event, event.time());
        queue.rest();
        queue.clock(deadline);
        return RunOutcome.DEADLINE;
      }
      queue.fire(event);
    }
    queue.catchUp();
    drainStores();
    queue.rest();
    return RunOutcome.DONE;
  }

  /**
   * Picoseconds that anything needs at least to get from one rank to another; 0 where that is not
   * known, where GPUs address each other's memory, where the order of events of different ranks
   * shows in what is recorded, or where the ranks are so few that what they need is in the cache
   * anyway.
   */
  private long lookahead() {
    if (queue.ranks() < MANY_RANKS
        || threads.hasThreadsOfCpus()
        || interconnect.tracing()
        || topology.nvlink() != null
        || topology.hasJitter()) {
      return 0;
    }
    long least = Long.MAX_VALUE;
    for (List<TimedDevicePort> ports : devices.values()) {
      for (TimedDevicePort port : ports) {
        least = Math.min(least, port.apart());
      }
    }
    return least == Long.MAX_VALUE ? 0 : least;
  }

  /** What ended threads stored arrives before the host goes on, as at the end of a kernel. */
  private void drainStores() {
    while (queue.nextTime() <= threads.drained()) {
      Event event = queue.poll();
      if (event != null) {
        queue.fire(event);
      }
    }
    queue.clock(Math.max(queue.clock(), threads.drained()));
  }

  @Override
  public void quiesce() {
    queue.lookahead(0, 0);
    while (interconnect.underWay() > 0) {
      Event event = queue.poll();
      if (event == null) {
        break;
      }
      queue.fire(event);
    }
    queue.rest();
  }

  /** The host may have written anything since the last run. */
  private void wakeAll() {
    threads.wakeAll();
    devices.values().stream()
        .flatMap(List::stream)
        .sorted(Comparator.comparingLong(TimedDevicePort::number))
        .forEach(TimedDevicePort::step);
  }

  /** Every thread that waits, with what it does and what it waits for, one line each. */
  public List<String> waiting() {
    return threads.waiting();
  }

  /** How many events have been carried out: what the host's time goes into. */
  public long events() {
    return queue.fired();
  }

  /** Reads all counters. */
  public FabricCounters counters() {
    int most = mostReads;
    for (List<TimedDevicePort> ports : devices.values()) {
      for (TimedDevicePort port : ports) {
        most = Math.max(most, port.mostReads());
      }
    }
    return new FabricCounters(
        (double) queue.clock() / Picos.PER_NANO,
        interconnect.links().traffic(),
        threads.fences(),
        (double) threads.fenceTime() / Picos.PER_NANO,
        most);
  }

  @Override
  public long now() {
    return queue.clock() / Picos.PER_NANO;
  }

  @Override
  public Basis basis() {
    return Basis.MODELLED;
  }

  @Override
  public void close() {
    interconnect.close();
    memory.close();
  }
}
