package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.ArrivalListener;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Fabric.AgentsEnded;
import dev.doorbell.core.fabric.Fabric.Pipeline;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.device.TimedDevicePort;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.HostThreads;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.event.Simulation;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.link.Links.LinkTraffic;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.processor.Processor;
import dev.doorbell.core.fabric.timed.thread.TimedThreadPort;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The fabric of virtual time: a discrete-event simulation of one {@link Topology}, driven by what
 * the agents do.
 *
 * <p>GPU and CPU threads have clocks of their own and pay for what they execute; their stores to
 * other components become TLPs that take their time on every link, and are visible when they
 * arrive. Devices take no time of their own but what they ask for ({@link DevicePort#delay}) and
 * what their DMA takes. Among few ranks all that others can notice happens in the order of virtual
 * time, on the one host thread that calls {@link #run}. Many ranks that reach each other by a
 * network alone run beside each other, on several host threads, in windows of what the network
 * takes at least. The same agents, topology and seed give the same times to the last bit, on any
 * number of them.
 *
 * <p>Its clock counts picoseconds and starts at 0.
 */
public final class TimedFabric extends Fabric {
  /** From how many nodes on it pays that each runs beside the others. */
  private static final int MANY = 8;

  /** Events after which a sweep lets its caller look around. */
  private static final int EVENTS_OF_A_SWEEP = 1 << 14;

  private static final long LONGEST_STILL_NANOS = 60_000_000_000L;

  private final int many = Integer.getInteger("doorbell.timed.nodes", MANY);

  /** Host threads of a run; 0: as many as there are processors for this world. */
  private final int hostThreads = Integer.getInteger("doorbell.timed.threads", 0);

  private final AddressSpace memory;
  private final Topology topology;
  private final Simulation simulation = new Simulation();
  private final long seed;
  private final SplittableRandom jitter;
  private final Map<Integer, LogicalProcess> nodes = new HashMap<>();

  /** The processes of agents: all but a few at one node. */
  private final Map<Agent, List<LogicalProcess>> homes = new ConcurrentHashMap<>();

  private final List<LogicalProcess> numbered = new ArrayList<>();

  private long attached;

  /** The number of agents that were detached. */
  private long detached;

  private boolean hostActed;

  /** Since when nothing has happened, by the clock of the wall. */
  private long stillSince = System.nanoTime();

  /** A fabric over a new address space. */
  public TimedFabric(Topology topology, long seed) {
    this(topology, AddressSpace.reserve(), seed);
  }

  /**
   * A fabric over {@code memory}, which it owns.
   *
   * @param seed of the phases of pollers, and of the jitter where the topology has any
   */
  public TimedFabric(Topology topology, AddressSpace memory, long seed) {
    this.topology = topology;
    this.memory = memory;
    this.seed = seed;
    this.jitter = new SplittableRandom(seed);
  }

  private LogicalProcess node(Locus locus) {
    int number = locus.rank() / topology.ranksOfNode();
    LogicalProcess node = nodes.get(number);
    if (node == null) {
      node =
          new LogicalProcess(
              new Interconnect(this, memory, topology, simulation.newQueue(), jitter, seed));
      nodes.put(number, node);
      numbered.add(node);
    }
    return node;
  }

  private LogicalProcess home(Locus locus, Agent agent) {
    LogicalProcess node = node(locus);
    homes.merge(
        agent,
        List.of(node),
        (known, more) ->
            known.contains(node) ? known : Stream.concat(known.stream(), more.stream()).toList());
    return node;
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
    return home(locus, agent).threads.attach(locus, block, agent, attached++);
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
    LogicalProcess node = home(locus, agent);
    TimedDevicePort port =
        new TimedDevicePort(
            node.interconnect, node.interconnect.component(locus), agent, attached++);
    node.add(agent, port);
    return port;
  }

  @Override
  public void detach(Agent agent) {
    detached++;
    List<LogicalProcess> at = homes.remove(agent);
    if (at != null) {
      at.forEach(node -> node.detach(agent));
    }
  }

  @Override
  public void wake(Agent agent) {
    for (LogicalProcess node : homes.getOrDefault(agent, List.of())) {
      node.wake(agent);
    }
  }

  @Override
  public void visit(Agent agent, Runnable task) {
    List<LogicalProcess> at = homes.getOrDefault(agent, List.of());
    if (at.isEmpty() || !at.getFirst().queue.runsBeside()) {
      task.run();
    } else {
      at.getFirst().visit(agent, task);
    }
  }

  @Override
  public void exclusively(Locus locus, Runnable task) {
    node(locus).queue.exclusively(task);
  }

  @Override
  public LongSupplier clock(Locus locus) {
    EventQueue queue = node(locus).queue;
    return () -> queue.clock() / Picos.PER_NANO;
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long clock = simulation.clock();
    long room = (Long.MAX_VALUE - clock) / Picos.PER_NANO;
    long deadline = nanos >= room ? Long.MAX_VALUE : clock + nanos * Picos.PER_NANO;
    wakeAll();
    long lookahead = lookahead();
    RunOutcome outcome;
    try (HostThreads threads = HostThreads.enter(hostThreads)) {
      outcome =
          lookahead > 0
              ? runBeside(done, deadline, lookahead, threads)
              : runInOrder(done, deadline);
    }
    if (outcome == RunOutcome.DONE) {
      simulation.catchUp();
      drainStores();
    }
    return outcome;
  }

  @Override
  public void hostActs() {
    hostActed = true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>It ends when an agent does: the host may look at the clock then. Where the host has done
   * nothing for a minute of the wall, time goes on all the same, so that kernels meet their
   * time-outs.
   */
  @Override
  public int sweep() {
    long wall = System.nanoTime();
    if (hostActed) {
      hostActed = false;
      stillSince = wall;
      stepDevices();
    }
    if (isStandingStill()) {
      threadsInOrder().forEach(TimedThreadPort::lookAgain);
    }
    boolean goesOn = wall - stillSince > LONGEST_STILL_NANOS;
    long before = detached;
    int fired = 0;
    while (fired < EVENTS_OF_A_SWEEP && detached == before && (goesOn || !isStandingStill())) {
      if (!simulation.fireNext()) {
        break;
      }
      fired++;
    }
    if (fired > 0 && !goesOn) {
      stillSince = wall;
    }
    if (detached != before) {
      simulation.catchUp();
      drainStores();
    }
    return fired;
  }

  /** True when all events to come are looks of threads that wait. */
  private boolean isStandingStill() {
    return simulation.size() <= simulation.polling();
  }

  private RunOutcome runInOrder(BooleanSupplier done, long deadline) {
    boolean each = !(done instanceof AgentsEnded);
    long asked = -1;
    while (true) {
      if (each || detached != asked) {
        asked = detached;
        if (done.getAsBoolean()) {
          return RunOutcome.DONE;
        }
      }
      long next = simulation.nextTime();
      if (next == Long.MAX_VALUE || isDeadlocked()) {
        simulation.postpone();
        return RunOutcome.STALLED;
      }
      if (next > deadline) {
        simulation.postpone();
        simulation.clock(deadline);
        return RunOutcome.DEADLINE;
      }
      simulation.fireNext();
    }
  }

  private RunOutcome runBeside(
      BooleanSupplier done, long deadline, long lookahead, HostThreads threads) {
    RunOutcome outcome = null;
    simulation.part();
    try {
      long[] ends = new long[numbered.size()];
      while (outcome == null) {
        long start = Long.MAX_VALUE;
        for (LogicalProcess node : numbered) {
          start = Math.min(start, node.queue.nextTime());
        }
        if (done.getAsBoolean()) {
          outcome = RunOutcome.DONE;
        } else if (start == Long.MAX_VALUE || isDeadlocked()) {
          outcome = RunOutcome.STALLED;
        } else if (start > deadline) {
          outcome = RunOutcome.DEADLINE;
        } else {
          simulation.clock(start);
          setEnds(ends, start + Math.min(lookahead - 1, deadline - start) + 1);
          simulation.window(start, ends, threads);
          numbered.forEach(LogicalProcess::receive);
        }
      }
    } finally {
      simulation.join();
      numbered.forEach(LogicalProcess::receive);
    }
    if (outcome == RunOutcome.DEADLINE) {
      simulation.clock(deadline);
    }
    return outcome;
  }

  /**
   * When the window ends for each node. A kernel is done when its last thread ends, and nothing has
   * to have happened behind that: a node without threads stays behind one that has some.
   */
  private void setEnds(long[] ends, long end) {
    long furthest = -1;
    for (LogicalProcess node : numbered) {
      if (node.threads.hasThreads()) {
        furthest = Math.max(furthest, node.queue.nextTime());
      }
    }
    long behind = furthest < 0 ? end : Math.min(end - 1, furthest) + 1;
    for (int i = 0; i < ends.length; i++) {
      ends[i] = numbered.get(i).threads.hasThreads() ? end : behind;
    }
  }

  /** True when all events to come are polls that will fail again. */
  private boolean isDeadlocked() {
    long polling = simulation.polling();
    return polling > 0
        && simulation.size() <= polling
        && numbered.stream().allMatch(node -> node.threads.isDeadlocked());
  }

  /**
   * Picoseconds that anything needs at least to get from one rank to another; 0 where that is not
   * known, where GPUs address each other's memory, where the order of events of different ranks
   * shows in what is recorded, or where the ranks are so few that what they need is in the cache
   * anyway.
   */
  private long lookahead() {
    if (numbered.size() < many
        || trace().enabled()
        || topology.nvlink() != null
        || topology.hasJitter()) {
      return 0;
    }
    long least = Long.MAX_VALUE;
    for (LogicalProcess node : numbered) {
      if (node.threads.hasThreadsOfCpus()) {
        return 0;
      }
      for (List<TimedDevicePort> ports : node.devices()) {
        for (TimedDevicePort port : ports) {
          least = Math.min(least, port.apart());
        }
      }
    }
    return least == Long.MAX_VALUE ? 0 : least;
  }

  /**
   * Lets the stores of ended threads arrive before the host goes on, as at the end of a kernel;
   * what others that end meanwhile have stored, too.
   */
  private void drainStores() {
    long drained = drained();
    while (simulation.nextTime() <= drained) {
      simulation.fireNext();
      if (simulation.nextTime() > drained) {
        drained = drained();
      }
    }
    simulation.clock(Math.max(simulation.clock(), drained));
  }

  private long drained() {
    long drained = 0;
    for (LogicalProcess node : numbered) {
      drained = Math.max(drained, node.threads.drained());
    }
    return drained;
  }

  @Override
  public void quiesce() {
    boolean more = true;
    while (more && simulation.underWay() > 0) {
      more = simulation.fireNext();
    }
  }

  /** The host may have written anything since the last run. */
  private void wakeAll() {
    threadsInOrder().forEach(port -> port.wake(simulation.clock()));
    stepDevices();
  }

  private void stepDevices() {
    numbered.stream()
        .flatMap(node -> node.devices().stream())
        .flatMap(List::stream)
        .sorted(Comparator.comparingLong(TimedDevicePort::number))
        .forEach(TimedDevicePort::step);
  }

  /** In the order in which they were attached, whatever the maps' order is. */
  private Stream<TimedThreadPort> threadsInOrder() {
    return numbered.stream()
        .flatMap(node -> node.threads.ports())
        .sorted(Comparator.comparingLong(TimedThreadPort::number));
  }

  /** Every thread that waits, with what it does and what it waits for, one line each. */
  public List<String> waiting() {
    return threadsInOrder().map(TimedThreadPort::waits).filter(Objects::nonNull).toList();
  }

  /** Returns the number of events that were carried out, which the host's time goes into. */
  public long events() {
    return simulation.fired();
  }

  public FabricCounters counters() {
    long fences = 0;
    long fenceTime = 0;
    List<LinkTraffic> traffic = new ArrayList<>();
    for (LogicalProcess node : numbered) {
      fences += node.threads.fences();
      fenceTime += node.threads.fenceTime();
      traffic.addAll(node.interconnect.links().traffic());
    }
    return new FabricCounters(
        (double) simulation.clock() / Picos.PER_NANO,
        traffic,
        fences,
        (double) fenceTime / Picos.PER_NANO);
  }

  @Override
  public boolean watch(long address, ArrivalListener listener) {
    Allocation at = Objects.requireNonNull(memory.find(address));
    node(at.locus()).interconnect.watch(at, listener);
    return true;
  }

  @Override
  public long now() {
    return simulation.clock() / Picos.PER_NANO;
  }

  @Override
  public Basis basis() {
    return Basis.MODELLED;
  }

  @Override
  public void close() {
    numbered.forEach(node -> node.interconnect.close());
    memory.close();
  }
}
