package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.Basis;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.explore.Slot.Arrivals;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Actor.ScopeLocation;
import dev.doorbell.core.fabric.explore.model.Chooser;
import dev.doorbell.core.fabric.explore.model.Clock;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.fabric.explore.model.Release;
import dev.doorbell.core.fabric.explore.model.SeenOrders;
import dev.doorbell.core.fabric.explore.search.SystematicSearch;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The fabric of an adversary: loads return any value that the memory model allows, doorbells arrive
 * late, agents go in any order, and whatever nothing orders is reported.
 *
 * <p>Threads and devices work over a {@link MemoryMachine}. Stores to a device's registers travel
 * in order and arrive when a {@link Chooser} says so; pieces of a BlueFlame write may arrive apart.
 * A device's DMA writes are posted in order unless they are relaxed; what it reads must be ordered
 * before its read. Units of devices know of each other what their messages tell.
 *
 * <p>Agents that poll in vain sleep until a word that they loaded is stored to. Time is virtual and
 * means little: {@value #INSTRUCTIONS_A_NANO} instructions of anybody are a nanosecond, so that
 * deadlines pass only when nothing else happens.
 */
public final class ExploringFabric extends Fabric {
  private static final int INSTRUCTIONS_A_NANO = 64;
  private static final int QUANTUM = 12;
  private static final int DEVICE_BUDGET = 64;

  /** Instructions without an access that others may notice that a step of a search takes. */
  private static final int MOST_OF_A_STEP = 100_000;

  private static final int TURNS_BETWEEN_CLOCK_READS = 1024;
  private static final int TURNS_OF_A_SWEEP = 256;
  private static final int MOST_ERRORS = 8;

  /**
   * The properties of the world.
   *
   * @param policy what orders stores for an HCA
   * @param tears pieces of a BlueFlame write may arrive apart, or be lost to the next write; else
   *     an HCA gets each whole and takes it before the next one, as kernels assume that post
   *     without a fence behind the copy in the ring
   * @param wallNanos {@link #run} ends when that much real time has passed since the fabric was
   *     made
   * @param promises of the world's HCAs
   */
  public record Options(Policy policy, boolean tears, long wallNanos, Promises promises) {}

  private final AddressSpace memory;
  private final SpaceBacking backing;
  private final Chooser chooser;
  private final Options options;
  private final MemoryMachine machine;
  private final long wallDeadline;
  private final Map<Agent, Slot> slots = new LinkedHashMap<>();
  private final List<Slot> runnable = new ArrayList<>();
  private final Map<Long, Route> routes = new HashMap<>();
  private final List<Region> regions = new ArrayList<>();
  private final @Nullable SystematicSearch search;
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final FindingLog log;
  private final ExecutedCode code = new ExecutedCode();
  private final SeenOrders orders;
  private final RecordChecks recordChecks;

  /** Buffer for what arrives at a register; the segment keeps its memory. */
  private final MemorySegment register = Arena.ofAuto().allocate(Arrivals.BLOCK, 64);

  private final long registerBytes = register.address();

  /** Clock of everybody who begins now: the past of agents that have ended. */
  private final Clock past = new Clock();

  private final List<Actor> devices = new ArrayList<>();

  /** A host acts while agents go on. */
  private boolean hosted;

  /** Joins the clocks of ended threads, whether or not a host has seen their ends. */
  private final Clock ended = new Clock();

  private final Map<String, KernelOrder> kernels = new HashMap<>();

  /** The kernel that a host has launched last; null where none says what comes after what. */
  private @Nullable KernelOrder launching;

  /** Since when all sleep, by the clock of the wall. */
  private long idleSince = System.nanoTime();

  /** The units that carry out the requests of queue pairs, by device and number. */
  private final Map<Long, Actor> senders = new HashMap<>();

  /** The store that is arriving at a register, or null. */
  private Arrivals.@Nullable Arrival arriving;

  private final List<Agent> agents = new ArrayList<>();
  private long turns;
  private long instructions;
  private long skippedNanos;
  private long longestSkip;
  private final List<String> errors = new ArrayList<>();
  private final Set<SourcePlace> waiting = new LinkedHashSet<>();
  private long timersMade;
  private long lastTurn = Long.MAX_VALUE;
  private boolean joinsGpus = true;
  private @Nullable TurnListener listener;
  private final Map<Object, Spin> spins = new LinkedHashMap<>();

  /** The device that answers for a page. */
  private record Route(Slot slot, MmioTarget target) {}

  private record Timer(long at, long order, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(at, other.at);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /** A fabric over {@code memory}, which it owns. */
  public ExploringFabric(AddressSpace memory, Chooser chooser, Options options) {
    this.memory = memory;
    this.backing = new SpaceBacking(memory);
    this.chooser = chooser;
    this.options = options;
    this.wallDeadline = System.nanoTime() + options.wallNanos();
    this.log = new FindingLog(memory, () -> turns);
    this.search = chooser instanceof SystematicSearch systematic ? systematic : null;
    this.machine =
        new MemoryMachine(
            chooser,
            search == null
                ? MemoryMachine.Options.random(options.policy())
                : MemoryMachine.Options.exhaustive(options.policy()),
            backing,
            log::found);
    if (search != null) {
      machine.listen(search);
    }
    this.recordChecks = new RecordChecks(machine, regions, log, this::senderOf);
    this.orders = machine.noteOrders();
    machine.onRecord(recordChecks::recordStored);
  }

  /** Tells what a range is that devices read. */
  public void describe(Region region) {
    regions.add(region);
    if (region.role() == Region.Role.SEND_RECORD) {
      machine.markRecord(region);
    }
  }

  /** Lets GPUs of different ranks address no memory of each other: none is joined by NVLink. */
  public void separateGpus() {
    joinsGpus = false;
  }

  boolean joinsGpus() {
    return joinsGpus;
  }

  /** Ends {@link #run} after that many turns, and what happens then without another. */
  public void stopAfter(long turns) {
    lastTurn = turns;
  }

  @FunctionalInterface
  public interface TurnListener {
    /**
     * An agent is about to go.
     *
     * @param at what it said of its place
     */
    void turn(long turn, Agent agent, @Nullable Object at);
  }

  public void listen(TurnListener listener) {
    this.listener = listener;
  }

  /** The loops that left everything as it was, each place once, in the order of the run. */
  public List<Spin> spins() {
    return List.copyOf(spins.values());
  }

  void spun(Agent agent, @Nullable Object at, boolean loads) {
    if (at != null) {
      spins.computeIfAbsent(at, place -> new Spin(agent, place, loads));
    }
  }

  /** Returns the findings, each pair of places once, in the order of the run. */
  public List<Finding> findings() {
    return log.all();
  }

  /** Returns where threads waited for the longest time in which nothing else happened. */
  public Set<SourcePlace> waiting() {
    return waiting;
  }

  public long turns() {
    return turns;
  }

  /** Instructions executed so far, all threads together. */
  public long instructions() {
    return instructions;
  }

  @Override
  public AddressSpace memory() {
    return memory;
  }

  MemoryMachine machine() {
    return machine;
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    return attach(locus, ScopeLocation.host(locus.rank()), agent, false);
  }

  @Override
  public ThreadPort attachThread(Locus locus, long block, Agent agent) {
    return attach(locus, ScopeLocation.thread(locus.rank(), locus.index(), block), agent, true);
  }

  private ThreadPort attach(Locus locus, ScopeLocation place, Agent agent, boolean fine) {
    Slot slot = new Slot(this, agent, locus, agents.size());
    agents.add(agent);
    slot.fine = fine;
    slots.put(agent, slot);
    KernelOrder kernel = fine && hosted ? kernelOf(locus, place) : null;
    slot.kernel = kernel;
    Actor actor = machine.thread(place, kernel == null ? past : kernel.start, agent);
    slot.actor = actor;
    wake(slot);
    return new ExploringThreadPort(this, slot, actor);
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    Slot slot = new Slot(this, agent, locus, agents.size());
    agents.add(agent);
    slots.put(agent, slot);
    Actor actor = device(locus.rank(), agent);
    slot.actor = actor;
    wake(slot);
    return new ExploringDevicePort(this, slot, actor);
  }

  Actor device(int rank, Object who) {
    Actor actor = machine.device(rank, who);
    devices.add(actor);
    return actor;
  }

  @Override
  public void hostActs() {
    if (!hosted) {
      hosted = true;
      machine.hosted(this::knownToHost);
    }
    knownToHost();
    for (Slot slot : slots.values()) {
      if (slot.actor != null && slot.actor.isDevice()) {
        wake(slot);
      }
    }
  }

  /** The clock that threads of a kernel begin with, and the joined clocks of those that ended. */
  static final class KernelOrder {
    private final Clock start;
    private final Clock end = new Clock();

    KernelOrder(Clock start) {
      this.start = start;
    }
  }

  /** Returns the kernel of a thread by the number of its launch, for a host that says when. */
  private @Nullable KernelOrder kernelOf(Locus locus, ScopeLocation place) {
    KernelOrder next = launching;
    if (next == null) {
      return null;
    }
    long launch = place.block() >>> Integer.SIZE;
    return kernels.computeIfAbsent(locus + " " + launch, _ -> next);
  }

  @Override
  public Object launching(Collection<Object> after) {
    Clock start = past.copy();
    after.forEach(kernel -> start.join(((KernelOrder) kernel).end));
    KernelOrder next = new KernelOrder(start);
    launching = next;
    return next;
  }

  @Override
  public void hostSees(@Nullable Collection<Object> kernels) {
    knownToHost();
    if (kernels == null) {
      past.join(ended);
    } else {
      kernels.forEach(kernel -> past.join(((KernelOrder) kernel).end));
    }
  }

  /** Joins to the host's clock what it may have seen by now. */
  private Clock knownToHost() {
    machine.hostActs(past);
    for (Actor device : devices) {
      past.join(device.clock);
      device.nextEpoch();
    }
    for (Slot slot : slots.values()) {
      Release released = slot.actor == null ? null : slot.actor.releasedToSystem();
      if (released != null) {
        past.join(released.clock);
      }
    }
    return past;
  }

  @Override
  public void detach(Agent agent) {
    Slot slot = slots.remove(agent);
    if (slot != null) {
      slot.attached = false;
      slot.unwatch();
      sleep(slot);
      Actor actor = slot.actor;
      if (actor != null) {
        Release released = actor.releasedToSystem();
        if (released != null) {
          past.join(released.clock);
        }
        KernelOrder kernel = slot.kernel;
        (kernel == null ? past : kernel.end).join(actor.clock);
        ended.join(actor.clock);
        actor.nextEpoch();
        if (!actor.isDevice()) {
          machine.ended(actor);
        }
      }
    }
  }

  @Override
  public void wake(Agent agent) {
    Slot slot = slots.get(agent);
    if (slot != null) {
      if (search != null && !slot.fine) {
        search.wrote(queue(slot, false), true, null);
      }
      wake(slot);
    }
  }

  void wake(Slot slot) {
    slot.sleeps = false;
    slot.wakeAt = Long.MAX_VALUE;
    if (slot.runnable == Slot.ASLEEP && slot.attached) {
      if (search != null) {
        search.woke(mover(slot, false));
      }
      slot.runnable = runnable.size();
      runnable.add(slot);
    }
  }

  private void sleep(Slot slot) {
    sendCombined(slot);
    int at = slot.runnable;
    if (at != Slot.ASLEEP) {
      Slot last = runnable.removeLast();
      if (last != slot) {
        runnable.set(at, last);
        last.runnable = at;
      }
      slot.runnable = Slot.ASLEEP;
    }
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long deadline = now() + nanos;
    int sinceClock = 0;
    while (!done.getAsBoolean()) {
      if (turns >= lastTurn && !runnable.isEmpty()) {
        return RunOutcome.DEADLINE;
      }
      if (++sinceClock == (search == null ? TURNS_BETWEEN_CLOCK_READS : 1)) {
        sinceClock = 0;
        if (System.nanoTime() - wallDeadline >= 0) {
          return RunOutcome.DEADLINE;
        }
      }
      if (now() - deadline >= 0) {
        return RunOutcome.DEADLINE;
      }
      if (runnable.isEmpty()) {
        if (!skip()) {
          return RunOutcome.STALLED;
        }
      } else if (search == null) {
        turn();
      } else if (!searchedTurn(search)) {
        return RunOutcome.DEADLINE;
      }
    }
    return RunOutcome.DONE;
  }

  @Override
  public int sweep() {
    long wall = System.nanoTime();
    if (runnable.isEmpty()) {
      wakeByHost();
      fireDue();
    }
    int taken = 0;
    while (taken < TURNS_OF_A_SWEEP && !runnable.isEmpty()) {
      turn();
      taken++;
    }
    // Somebody waits for the host: time passes as it does there.
    skippedNanos += taken == 0 ? wall - idleSince : 0;
    idleSince = taken == 0 ? wall : System.nanoTime();
    return taken;
  }

  /** Wakes those who wait for a word that the host has stored to. */
  private void wakeByHost() {
    for (Slot slot : slots.values()) {
      if (slot.watched.stream().anyMatch(machine::isOverwritten)) {
        wake(slot);
      }
    }
  }

  private void fireDue() {
    while (!timers.isEmpty() && timers.element().at <= now()) {
      timers.remove().action.run();
    }
    for (Slot slot : slots.values()) {
      if (slot.wakeAt <= now()) {
        wake(slot);
      }
    }
  }

  /** Everybody sleeps: time moves on to the next who wakes by the clock. False when none does. */
  private boolean skip() {
    Slot first = null;
    for (Slot slot : slots.values()) {
      if (slot.wakeAt != Long.MAX_VALUE && (first == null || slot.wakeAt < first.wakeAt)) {
        first = slot;
      }
    }
    Timer timer = timers.peek();
    if (timer != null && (first == null || timer.at <= first.wakeAt)) {
      timers.remove();
      skippedNanos += Math.max(0, timer.at - now());
      timer.action.run();
      return true;
    }
    if (first == null) {
      return false;
    }
    long skipped = Math.max(0, first.wakeAt - now());
    if (skipped > longestSkip) {
      longestSkip = skipped;
      waiting.clear();
      for (Slot slot : slots.values()) {
        Object at = slot.agent.place();
        SourcePlace place = slot.fine && at != null ? slot.agent.describe(at) : null;
        if (place != null) {
          waiting.add(place);
        }
      }
    }
    skippedNanos += skipped;
    wake(first);
    return true;
  }

  private void turn() {
    turns++;
    int count = runnable.size();
    Slot slot = runnable.get(count == 1 ? 0 : chooser.chooseAgent(runnable));
    begin(slot);
    if (slot.fine) {
      steps(slot, 1 + chooser.choose(QUANTUM, Chooser.Kind.QUANTUM));
    } else {
      deviceStep(slot, arrive(slot));
    }
  }

  private void begin(Slot slot) {
    slot.turns++;
    if (listener != null) {
      listener.turn(turns, slot.agent, slot.agent.place());
    }
    slot.unwatch();
    slot.sleeps = false;
    slot.looksAgain = false;
  }

  /** A thread of a GPU goes on, in a search to its next access that others may notice. */
  private void steps(Slot slot, int steps) {
    boolean acted = false;
    for (int i = 0; i < steps && slot.attached && !slot.sleeps && !acted; i++) {
      if (search == null) {
        covers(slot);
      }
      if (slot.agent.step(1) == 0) {
        sleep(slot);
        return;
      }
      acted = search != null && search.hasActed();
    }
    if (slot.sleeps) {
      if (search != null) {
        search.waits();
      }
      sleep(slot);
    }
  }

  private void deviceStep(Slot slot, boolean more) {
    int work = slot.agent.step(DEVICE_BUDGET);
    if ((work == 0 && !more && !slot.looksAgain) || slot.sleeps) {
      sleep(slot);
    }
  }

  /**
   * One step of a systematic search: of an agent, or the arrival of one store at a device, which
   * handles it at once: that it may be late is the arrival's.
   *
   * @return false when the search has seen enough of this run
   */
  private boolean searchedTurn(SystematicSearch systematic) {
    if (turns == 0) {
      slots.values().stream().filter(slot -> !slot.fine).toList().forEach(this::untilIdle);
    }
    turns++;
    long enabled = 0;
    for (Slot slot : slots.values()) {
      if (slot.number >= SystematicSearch.AGENTS / 2) {
        throw new TooManyAgents();
      }
      if (slot.runnable != Slot.ASLEEP) {
        enabled |= 1L << mover(slot, false);
      }
      if (canArrive(slot) > 0) {
        enabled |= 1L << mover(slot, true);
      }
    }
    int chosen = systematic.next(enabled);
    if (chosen == SystematicSearch.STOP) {
      return false;
    }
    for (Slot slot : slots.values()) {
      if (slot.number != chosen / 2) {
        continue;
      }
      begin(slot);
      if (slot.fine) {
        steps(slot, MOST_OF_A_STEP);
      } else {
        boolean arrives = chosen % 2 == 1;
        systematic.wrote(queue(slot, true), true, arrives ? slot.arrivals.first().at : null);
        systematic.wrote(queue(slot, false), true, null);
        if (arrives) {
          deliver(slot);
          wake(slot);
        }
        untilIdle(slot);
      }
      break;
    }
    return true;
  }

  /** A device handles all that has reached it. */
  private void untilIdle(Slot slot) {
    for (int i = 0; i < DEVICE_BUDGET && slot.runnable != Slot.ASLEEP; i++) {
      deviceStep(slot, false);
    }
  }

  /** The number of an agent in a search, or of what delivers stores to it. */
  private static int mover(Slot slot, boolean delivers) {
    return 2 * slot.number + (delivers ? 1 : 0);
  }

  /** The key of what has reached a device: stores to its registers, or packets. */
  private static long queue(Slot slot, boolean stores) {
    return -2L - mover(slot, stores);
  }

  /** The key of the order in which threads store to a device's registers. */
  private static long posted(Slot to) {
    return -2L - 2L * SystematicSearch.AGENTS - mover(to, true);
  }

  /** The unit at work sends something to another device, which is awake or is to be woken. */
  void sent() {
    if (search != null) {
      for (Slot slot : runnable) {
        if (!slot.fine) {
          search.wrote(queue(slot, false), true, null);
        }
      }
    }
  }

  /** Returns a step of a search in words: the agent, and where it did what others may notice. */
  public String describe(SystematicSearch.TraceStep step) {
    Agent agent = agents.get(step.agent() / 2);
    if (step.agent() % 2 == 1) {
      return "a store arrives at " + agent.name();
    }
    Object at = step.place();
    SourcePlace place = at == null ? null : agent.describe(at);
    return agent.name() + (place == null ? "" : "  " + place);
  }

  /** A search that has more agents than it can tell apart. */
  public static final class TooManyAgents extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    TooManyAgents() {
      super("a systematic search takes %d agents at most".formatted(SystematicSearch.AGENTS / 2));
    }
  }

  /** Notes that a thread is about to execute its next instruction. */
  private void covers(Slot slot) {
    Object place = slot.agent.place();
    if (place != null) {
      ExecutedCode.Step before = slot.step;
      slot.step = before == null ? code.begin(slot.agent, place) : code.follow(before, place);
    }
  }

  /**
   * Returns the parts of the program that were executed, and the orders that were seen.
   *
   * @param known what other runs have found out about the same program
   */
  public Coverage coverage(ReachableCode known) {
    return code.coverage(orders, known);
  }

  /** Lets some of what waits for a device arrive. True when more waits. */
  private boolean arrive(Slot slot) {
    int waiting = canArrive(slot);
    if (waiting == 0) {
      return slot.arrivals.size() > 0;
    }
    int late = chooser.choose(waiting + 1, Chooser.Kind.ARRIVALS);
    for (int i = waiting - late; i > 0; i--) {
      Arrivals.Arrival arrival = deliver(slot);
      if (!options.tears() && arrival.bytes > Long.BYTES) {
        break; // the device takes a whole block before the next one arrives
      }
    }
    return slot.arrivals.size() > 0;
  }

  private int canArrive(Slot slot) {
    return options.tears() ? slot.arrivals.size() : slot.arrivals.ready();
  }

  private Arrivals.Arrival deliver(Slot slot) {
    Arrivals.Arrival arrival = slot.arrivals.take();
    arrival.combining = false;
    Actor device = slot.actor;
    if (device == null) {
      return arrival;
    }
    machine.arrived(device, arrival.releases);
    for (int at = 0; at < arrival.bytes; at += Long.BYTES) {
      RawMemory.putLong(registerBytes + at, arrival.words[at / Long.BYTES]);
    }
    arriving = arrival;
    arrival.target.mmioWrite(arrival.address, registerBytes, arrival.bytes);
    arriving = null;
    return arrival;
  }

  /** Tells {@code unit} of what is arriving there. */
  void informed(Actor unit) {
    Arrivals.Arrival arrival = arriving;
    if (arrival != null) {
      machine.arrived(unit, arrival.releases);
      recordChecks.doorbellArrives(unit, arrival, registerBytes);
    } else if (hosted) {
      unit.learns(past);
    }
  }

  /** {@code unit} carries out the requests of a queue pair. */
  void sends(Locus device, int queuePair, Actor unit) {
    senders.put(key(Region.device(device), queuePair), unit);
  }

  private static long key(int device, int queuePair) {
    return (long) device << Integer.SIZE | queuePair;
  }

  private @Nullable Actor senderOf(Region region) {
    return senders.get(key(region.device(), region.queuePair()));
  }

  boolean onGpu(long address) {
    return backing.onGpu(address);
  }

  /**
   * True when what a unit has written to memory of a GPU is seen by those who learn of it another
   * way only after a read of that unit.
   */
  boolean splitsVisibility() {
    return options.promises().visibility() == Promise.Visibility.AFTER_READ;
  }

  /** True when everything that a queue pair sends is placed in the order of sending. */
  boolean ordersPlacement() {
    return options.promises().placement() == Promise.Placement.IN_ORDER
        && options.promises().posted() == Promise.Posted.IN_ORDER;
  }

  int choosePlacement(int alternatives) {
    return chooser.choose(alternatives, Chooser.Kind.PLACEMENT);
  }

  void completedInError(String cqe) {
    if (errors.size() < MOST_ERRORS) {
      errors.add(cqe);
    }
  }

  /** Returns the first completions in error, but for flushed ones, with the HCA of each. */
  public List<String> errors() {
    return List.copyOf(errors);
  }

  void executed(int count) {
    instructions += count;
  }

  @Override
  public long now() {
    return search != null ? skippedNanos : skippedNanos + instructions / INSTRUCTIONS_A_NANO;
  }

  @Override
  public Basis basis() {
    return Basis.MODELLED;
  }

  @Override
  public void close() {
    memory.close();
  }

  // For ports.

  @Nullable MmioTarget target(long address) {
    Route route = route(address);
    return route == null ? null : route.target;
  }

  private @Nullable Route route(long address) {
    return memory.isRegister(address) ? routes.get(address & -AddressSpace.PAGE) : null;
  }

  void route(long page, Slot slot, MmioTarget target) {
    routes.put(page, new Route(slot, target));
  }

  void unroute(long page) {
    routes.remove(page);
  }

  void storeRegister(
      Slot from,
      Actor actor,
      long address,
      int bytes,
      long value,
      int access,
      @Nullable Object at) {
    Route route = route(address);
    if (route == null) {
      throw memory.fault("store", address, bytes);
    }
    Release[] releases = machine.handsOn(actor, access);
    boolean combines = Access.semantics(access) != Access.MMIO && bytes == Long.BYTES;
    Arrivals.Arrival arrival = from.combining;
    boolean joins =
        combines
            && arrival != null
            && arrival.combining
            && arrival.address + arrival.bytes == address
            && address % Arrivals.BLOCK != 0
            && !(options.tears() && chooser.choose(2, Chooser.Kind.TEAR) == 1);
    if (!joins || arrival == null) {
      sendCombined(from);
      arrival = new Arrivals.Arrival(from, actor, route.target, address, access, at);
      arrival.combining = combines;
      from.combining = combines ? arrival : null;
      route.slot.arrivals.add(arrival);
    }
    arrival.words[arrival.bytes / Long.BYTES] = value;
    arrival.bytes += bytes;
    arrival.releases = releases;
    arrival.turn = from.turns;
    if (search != null) {
      search.wrote(posted(route.slot), true, at);
    }
    if (arrival.bytes == Arrivals.BLOCK) {
      sendCombined(from);
    }
    wake(route.slot);
  }

  /** Empties the thread's write-combining buffer. */
  void sendCombined(Slot slot) {
    Arrivals.Arrival arrival = slot.combining;
    if (arrival != null) {
      arrival.combining = false;
      slot.combining = null;
    }
  }

  void wakeAfter(Slot slot, long nanos) {
    slot.wakeAt = now() + nanos;
  }

  void timer(long nanos, Runnable action) {
    timers.add(new Timer(now() + nanos, timersMade++, action));
  }

  FindingLog log() {
    return log;
  }

  @Nullable Region region(long address) {
    for (Region region : regions) {
      if (region.contains(address)) {
        return region;
      }
    }
    return null;
  }

  /**
   * A conflict as it came up in a run.
   *
   * @param steps the run's choices until then
   * @param saw what the device read, decoded, or null
   * @param memory what lies at the address, in words
   */
  public record Finding(Conflict conflict, long steps, @Nullable String saw, String memory) {}

  /**
   * A thread that went round a loop which left everything as it was.
   *
   * @param at what it said of its place, the loop's end
   * @param loads the loop has weak loads, so that it may end; without, it never does
   */
  public record Spin(Agent agent, @Nullable Object at, boolean loads) {}

  /** The world's memory behind the machine; hosts look there when a run has ended. */
  private static final class SpaceBacking implements MemoryMachine.Backing {
    private final AddressSpace memory;

    SpaceBacking(AddressSpace memory) {
      this.memory = memory;
    }

    @Override
    public long word(long address) {
      return RawMemory.getLong(address);
    }

    @Override
    public void store(long address, long value, long mask) {
      // The host may store to the rest of the word meanwhile.
      int shift = Long.numberOfTrailingZeros(mask);
      RawMemory.put(address + shift / Byte.SIZE, Long.bitCount(mask) / Byte.SIZE, value >>> shift);
    }

    @Override
    public boolean onGpu(long address) {
      Allocation allocation = memory.find(address);
      return allocation != null
          && (allocation.kind() == MemoryKind.DEVICE || allocation.kind() == MemoryKind.MANAGED);
    }

    @Override
    public boolean ofBlock(long address) {
      Allocation allocation = memory.find(address);
      return allocation != null && allocation.kind() == MemoryKind.SCRATCH;
    }
  }
}
