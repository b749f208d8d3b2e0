package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.machine.Hop;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.trace.TraceEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
  /** Picoseconds in a nanosecond. */
  static final long PICOS = 1000;

  private final AddressSpace memory;
  private final Topology topology;
  private final SplittableRandom random;
  private final EventQueue queue = new EventQueue();
  private final Watches watches = new Watches();
  private final Buffers buffers = new Buffers();
  private final Map<Locus, Place> places = new HashMap<>();
  private final Map<String, LinkDirection> links = new LinkedHashMap<>();
  private final Map<List<Locus>, Route> routes = new HashMap<>();
  private final Map<Route, Completer> completers = new HashMap<>();
  private final Map<Long, Register> registers = new HashMap<>();
  private final IdentityHashMap<Agent, List<TimedThreadPort>> threads = new IdentityHashMap<>();
  private final IdentityHashMap<Agent, List<TimedDevicePort>> devices = new IdentityHashMap<>();
  private int polling;

  /** Posted writes, and lines of stores that wait for more, that have not arrived yet. */
  private int underWay;

  /** When the stores of all threads that have ended are where they belong. */
  private long settled;

  private long attached;
  private long clock;
  private long fences;
  private long drained;
  private int mostReads;
  private @Nullable PostedWrite sparePosts;
  private @Nullable ScheduledThread running;

  /** Who answers for a doorbell page. */
  private record Register(MmioTarget target, TimedDevicePort device) {}

  /** A posted store of a thread under way. */
  private final class PostedWrite extends Event {
    private Reach reach;
    private long address;
    private long buffer;
    private int bytes;
    private @Nullable PostedWrite next;

    PostedWrite(Reach reach) {
      this.reach = reach;
    }

    @Override
    void fire() {
      arrive(reach, address, buffer, bytes, time);
      buffers.give(buffer, bytes);
      underWay--;
      next = sparePosts;
      sparePosts = this;
    }
  }

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
    this.random = new SplittableRandom(seed);
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
    return attachThread(locus, Place.NO_BLOCK, agent);
  }

  @Override
  public ThreadPort attachThread(Locus locus, long block, Agent agent) {
    TimedThreadPort port = new TimedThreadPort(this, place(locus), agent, attached++, block);
    threads.computeIfAbsent(agent, key -> new ArrayList<>(1)).add(port);
    return port;
  }

  @Override
  public boolean hasLoadsAhead() {
    return true;
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    TimedDevicePort port = new TimedDevicePort(this, place(locus), agent, attached++);
    devices.computeIfAbsent(agent, key -> new ArrayList<>(1)).add(port);
    return port;
  }

  @Override
  public void detach(Agent agent) {
    List<TimedThreadPort> gone = threads.remove(agent);
    if (gone != null) {
      for (TimedThreadPort port : gone) {
        settled = Math.max(settled, port.detach());
      }
    }
    List<TimedDevicePort> closed = devices.remove(agent);
    if (closed != null) {
      closed.forEach(TimedDevicePort::detach);
    }
  }

  @Override
  public void wake(Agent agent) {
    ScheduledThread waker = running;
    long when = waker == null ? clock : waker.time;
    for (TimedThreadPort port : threads.getOrDefault(agent, List.of())) {
      port.wake(when);
    }
    for (TimedDevicePort port : devices.getOrDefault(agent, List.of())) {
      port.step();
    }
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long room = (Long.MAX_VALUE - clock) / PICOS;
    long deadline = nanos >= room ? Long.MAX_VALUE : clock + nanos * PICOS;
    rouseAll();
    while (!done.getAsBoolean()) {
      Event event = queue.poll();
      if (event == null) {
        return RunOutcome.STALLED;
      }
      if (hopeless()) {
        queue.schedule(event, event.time);
        return RunOutcome.STALLED;
      }
      if (event.time > deadline) {
        queue.schedule(event, event.time);
        clock = deadline;
        return RunOutcome.DEADLINE;
      }
      clock = event.time;
      event.fire();
    }
    settle();
    return RunOutcome.DONE;
  }

  /** What ended threads stored arrives before the host goes on, as at the end of a kernel. */
  private void settle() {
    while (queue.nextTime() <= settled) {
      Event event = queue.poll();
      if (event != null) {
        clock = event.time;
        event.fire();
      }
    }
    clock = Math.max(clock, settled);
  }

  @Override
  public void quiesce() {
    while (underWay > 0) {
      Event event = queue.poll();
      if (event == null) {
        return;
      }
      clock = event.time;
      event.fire();
    }
  }

  /** Counts what is under way. */
  void underWay(int change) {
    underWay += change;
  }

  /** The host may have written anything since the last run. */
  private void rouseAll() {
    forEachThread(port -> port.wake(clock));
    devices.values().stream()
        .flatMap(List::stream)
        .sorted(Comparator.comparingLong(port -> port.number))
        .forEach(TimedDevicePort::step);
  }

  /** In the order in which they were attached, whatever the map's order is. */
  private void forEachThread(Consumer<TimedThreadPort> action) {
    threads.values().stream()
        .flatMap(List::stream)
        .sorted(Comparator.comparingLong(port -> port.number))
        .forEach(action);
  }

  /** True when all that will still happen is that threads look once more, in vain. */
  private boolean hopeless() {
    if (polling == 0 || queue.size() >= polling) {
      return false;
    }
    for (List<TimedThreadPort> ports : threads.values()) {
      for (TimedThreadPort port : ports) {
        if (!port.hopeless()) {
          return false;
        }
      }
    }
    return true;
  }

  /** Every thread that waits, with what it does and what it waits for, one line each. */
  public List<String> waiting() {
    List<String> lines = new ArrayList<>();
    forEachThread(
        port -> {
          String what = port.waitsFor();
          if (what != null) {
            lines.add(port.agent().where() + " waits for " + what);
          }
        });
    return lines;
  }

  /** Reads all counters. */
  public FabricCounters counters() {
    List<LinkTraffic> traffic = new ArrayList<>();
    for (LinkDirection link : links.values()) {
      traffic.add(new LinkTraffic(link.name, link.tlps, link.wireBytes, link.payloadBytes));
    }
    return new FabricCounters(
        (double) clock / PICOS, traffic, fences, (double) drained / PICOS, mostReads);
  }

  @Override
  public long now() {
    return clock / PICOS;
  }

  @Override
  public Basis basis() {
    return Basis.MODELLED;
  }

  @Override
  public void close() {
    buffers.close();
    memory.close();
  }

  /** The thread that is being stepped, whose clock is ahead of the world's; or null. */
  void running(@Nullable ScheduledThread thread) {
    running = thread;
  }

  /** Counts the threads that poll in vain; each has a turn scheduled. */
  void polling(int change) {
    polling += change;
  }

  EventQueue queue() {
    return queue;
  }

  Watches watches() {
    return watches;
  }

  Buffers buffers() {
    return buffers;
  }

  /** Picoseconds of virtual time. */
  long clock() {
    return clock;
  }

  Place place(Locus locus) {
    Place place = places.get(locus);
    if (place == null) {
      if (!topology.has(locus.part(), locus.index())) {
        throw new IllegalArgumentException(
            "topology '%s' has no %s, which %s needs; it has %d CPUs, %d GPUs and %d HCAs a node"
                .formatted(
                    topology.name(),
                    Topology.component(locus),
                    locus,
                    topology.cpus().size(),
                    topology.gpus().size(),
                    topology.nics().size()));
      }
      place = new Place(this, locus, topology);
      places.put(locus, place);
    }
    return place;
  }

  /** The way from one place to another. */
  Route route(Locus from, Locus to) {
    return routes.computeIfAbsent(List.of(from, to), ends -> makeRoute(from, to));
  }

  private Route makeRoute(Locus from, Locus to) {
    if (from.rank() != to.rank()) {
      throw new IllegalArgumentException(
          "%s cannot address memory of %s: ranks are joined by their HCAs alone"
              .formatted(from, to));
    }
    String start = Topology.component(from);
    Path path = topology.path(start, Topology.component(to));
    boolean forward = path.from().equals(start);
    int hops = path.hops().size();
    LinkDirection[] directions = new LinkDirection[hops];
    long[] latencies = new long[hops];
    String at = start;
    for (int i = 0; i < hops; i++) {
      Hop hop = path.hops().get(forward ? i : hops - 1 - i);
      Link link = topology.link(hop.link());
      boolean along = link.from().equals(at);
      at = along ? link.to() : link.from();
      directions[i] = direction(link, from.rank(), along);
      latencies[i] = Place.picos(hop.nanos());
    }
    return new Route(from, from + ">" + to, path, directions, latencies, random);
  }

  private LinkDirection direction(Link link, int rank, boolean along) {
    return links.computeIfAbsent(
        rank + link.name() + along, key -> new LinkDirection(link, rank, along));
  }

  Completer completer(Route back) {
    return completers.computeIfAbsent(back, key -> new Completer(this));
  }

  void requirePeerReads(Reach reach, Place reader) {
    if (!reach.readableFrom(reader)) {
      throw new IllegalStateException(
          "%s reads %s, but topology '%s' does not route reads between peers there"
              .formatted(reader.locus, reach.allocation, topology.name()));
    }
  }

  void routeMmio(long page, MmioTarget target, TimedDevicePort device) {
    registers.put(page, new Register(target, device));
  }

  void unrouteMmio(long page) {
    registers.remove(page);
  }

  void requireDevice(long address, int bytes) {
    if (!registers.containsKey(address & -AddressSpace.PAGE)) {
      throw memory.fault("store", address, bytes);
    }
  }

  /**
   * Sends a thread's posted store, whose bytes lie in {@code buffer} of {@link Buffers}.
   *
   * @return when the thread's fence knows that it is there
   */
  long post(Place from, Reach reach, long address, long buffer, int bytes, long at) {
    Route route = reach.out();
    long arrival = route.write(at, address, bytes, false, clock);
    traceTransfer("MWr", route, address, bytes, at, arrival);
    PostedWrite write = sparePosts;
    if (write == null) {
      write = new PostedWrite(reach);
    } else {
      sparePosts = write.next;
    }
    write.reach = reach;
    write.address = address;
    write.buffer = buffer;
    write.bytes = bytes;
    queue.schedule(write, arrival);
    underWay++;
    return arrival + reach.acknowledgement();
  }

  /** Bytes have arrived: in memory, or at a device's registers. */
  void arrive(Reach reach, long address, long source, int bytes, long when) {
    if (!reach.uar) {
      // Memory that was freed meanwhile takes nothing.
      if (memory.accessibleRange(address, bytes)) {
        RawMemory.copy(source, address, bytes);
        written(reach.owner, address, bytes, when);
      }
      return;
    }
    Register register = registers.get(address & -AddressSpace.PAGE);
    if (register == null || !memory.isRegister(address)) {
      return;
    }
    RawMemory.copy(source, address, bytes);
    if (tracing()) {
      long first = bytes >= Long.BYTES ? RawMemory.getLong(source) : RawMemory.getInt(source);
      trace()
          .record(
              new TraceEvent(
                  when / PICOS,
                  reach.owner.locus,
                  TraceEvent.Kind.MMIO,
                  address,
                  first,
                  bytes,
                  bytes > Long.BYTES ? "BlueFlame" : "doorbell"));
    }
    register.target.mmioWrite(address, source, bytes);
    register.device.step();
  }

  /** Memory of {@code owner} changed: whoever waits for it wakes. */
  void written(Place owner, long address, long bytes, long when) {
    watches.written(address, bytes, when);
    owner.rouse(when);
  }

  void fenced(long picos) {
    fences++;
    drained += picos;
  }

  void readsOutstanding(int count) {
    mostReads = Math.max(mostReads, count);
  }

  boolean tracing() {
    return trace().enabled();
  }

  /**
   * Tells of TLPs that leave at {@code at} and have all arrived at {@code arrival}, picoseconds.
   */
  void traceTransfer(String kind, Route route, long address, int bytes, long at, long arrival) {
    if (tracing()) {
      trace()
          .record(
              new TraceEvent(
                  at / PICOS,
                  route.from,
                  TraceEvent.Kind.TLP,
                  address,
                  arrival / PICOS,
                  bytes,
                  "%s %d bytes %s".formatted(kind, bytes, route.name)));
    }
  }
}
