package dev.doorbell.core.fabric;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.Scheduler;
import dev.doorbell.core.fabric.DirectWorker.DoorbellRing;
import dev.doorbell.core.fabric.FarDevicePort.FarMemory;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;

/**
 * The fabric that is as fast as it can: every access touches native memory at once. Its clock is
 * the wall's, and what it measures is the emulation ({@link Basis#EMULATED}).
 *
 * <p>Agents are stepped, and timers fire, on the host thread that calls {@link #run}; attaching,
 * detaching and allocating belong to that thread too. Loads, stores, atomics and DMA may come from
 * any thread: their memory order is kept between host threads as well.
 *
 * <p>Threads of a GPU may be spread over {@linkplain #workers more host threads}. Worker 0 is the
 * one that calls {@link #run}, and devices stay there. With a seed there is no other, so that a run
 * can be repeated.
 */
public final class DirectFabric extends Fabric {
  private static final long QUIESCE_NANOS = 10_000_000_000L;

  private final AddressSpace memory;
  private final Scheduler scheduler;
  private final MmioPages mmio;
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final long seed;
  private final List<DirectWorker> others = new ArrayList<>();
  private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final DoorbellRing.Target registers = this::deliver;
  private final FarMemory far = new FarMemory();
  private long timersMade;

  /** A timer and what it calls. */
  private record Timer(long at, long order, Completion completion) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(at - other.at, 0);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /** A fabric over a new address space, stepped in round robin. */
  public DirectFabric() {
    this(AddressSpace.reserve(), 0);
  }

  /**
   * A fabric over {@code memory}, which it owns.
   *
   * @param seed see {@link Scheduler}
   */
  public DirectFabric(AddressSpace memory, long seed) {
    this.memory = memory;
    this.mmio = new MmioPages(memory);
    this.scheduler = new Scheduler(seed);
    this.seed = seed;
  }

  /**
   * Has at least {@code count} workers, the calling thread among them.
   *
   * @return how many may be used: 1 where a seed fixes the order of steps
   */
  public int workers(int count) {
    if (seed != 0) {
      return 1;
    }
    if (count > 1 && others.isEmpty()) {
      scheduler.addDevice(budget -> takeDoorbells());
    }
    while (others.size() < count - 1) {
      others.add(new DirectWorker(others.size() + 1));
    }
    return count;
  }

  /** A port for a thread of {@code locus} that {@code worker} will step; see {@link #add}. */
  public ThreadPort port(Locus locus, int worker) {
    return new DirectThreadPort(
        memory, mmio, locus, worker == 0 ? null : others.get(worker - 1).doorbells);
  }

  /** Gives an agent to a worker. To be called there; see {@link #tell}. */
  public void add(Agent agent, int worker) {
    if (worker == 0) {
      scheduler.add(agent);
    } else {
      others.get(worker - 1).add(agent);
    }
  }

  /** Takes an agent from a worker. To be called there; see {@link #tell}. */
  public void remove(Agent agent, int worker) {
    if (worker == 0) {
      scheduler.remove(agent);
    } else {
      others.get(worker - 1).remove(agent);
    }
  }

  /**
   * Runs {@code task} where the agents of {@code worker} are stepped, between two steps of the
   * caller's own or between two sweeps of another worker's; at once where that is the caller or
   * nothing runs. What the caller wrote before is visible there.
   */
  public void tell(int worker, Runnable task) {
    if (worker > 0) {
      others.get(worker - 1).tell(task);
    } else if (others.stream().anyMatch(DirectWorker::isCurrent)) {
      inbox.add(task);
    } else {
      task.run();
    }
  }

  private boolean attend(BooleanSupplier done) {
    if (!timers.isEmpty()) {
      fireTimers();
    }
    if (!others.isEmpty()) {
      for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
        task.run();
      }
      rethrow();
    }
    return done.getAsBoolean();
  }

  private int takeDoorbells() {
    int taken = 0;
    for (int i = 0; i < others.size(); i++) {
      taken += others.get(i).doorbells.drain(registers);
    }
    return taken;
  }

  private void deliver(long address, int bytes, long low, long high) {
    mmio.store(address, bytes, low, high);
  }

  private void rethrow() {
    for (DirectWorker worker : others) {
      switch (worker.takeFailure()) {
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case null, default -> {}
      }
    }
  }

  /** Waits until no worker sweeps; takes their doorbells meanwhile, since they wait for room. */
  private void rest() {
    others.forEach(DirectWorker::pause);
    for (DirectWorker worker : others) {
      while (!worker.isResting()) {
        takeDoorbells();
        Thread.onSpinWait();
      }
    }
    takeDoorbells();
    for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
      task.run();
    }
  }

  @Override
  public AddressSpace memory() {
    return memory;
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    scheduler.add(agent);
    return new DirectThreadPort(memory, mmio, locus, null);
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    scheduler.addDevice(agent);
    DevicePort port = new DirectDevicePort(memory, mmio, this::addTimer);
    return far.isEmpty() ? port : new FarDevicePort(port, far);
  }

  /** Devices that are attached from now on reach the memory of {@code engine} by it. */
  public void reach(DmaEngine engine) {
    far.add(engine);
    scheduler.addDevice(engine);
  }

  /** Nobody reaches the memory of {@code engine} any more. */
  public void forget(DmaEngine engine) {
    far.remove(engine);
    scheduler.remove(engine);
  }

  @Override
  public boolean reaches(long address, long bytes) {
    return super.reaches(address, bytes) || far.engine(address, bytes) != null;
  }

  @Override
  public void quiesce() {
    if (!far.isIdle() && run(far::isIdle, QUIESCE_NANOS) == RunOutcome.DEADLINE) {
      throw new IllegalStateException(
          "a DMA engine did not end its transfers within %d s"
              .formatted(QUIESCE_NANOS / 1_000_000_000L));
    }
  }

  @Override
  public void detach(Agent agent) {
    scheduler.remove(agent);
  }

  @Override
  public void wake(Agent agent) {
    // Every agent is stepped in every sweep.
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long deadline = System.nanoTime() + nanos;
    boolean ended;
    others.forEach(DirectWorker::resume);
    try {
      ended = scheduler.run(() -> attend(done), deadline);
    } finally {
      rest();
    }
    rethrow();
    return ended ? RunOutcome.DONE : RunOutcome.DEADLINE;
  }

  @Override
  public int sweep() {
    fireTimers();
    return scheduler.sweep();
  }

  @Override
  public long now() {
    return System.nanoTime();
  }

  @Override
  public Basis basis() {
    return Basis.EMULATED;
  }

  @Override
  public void close() {
    others.forEach(DirectWorker::close);
    memory.close();
  }

  private void addTimer(long nanos, Completion completion) {
    timers.add(new Timer(System.nanoTime() + nanos, timersMade++, completion));
  }

  private void fireTimers() {
    while (!timers.isEmpty() && timers.peek().at - System.nanoTime() <= 0) {
      timers.remove().completion.completed(true);
    }
  }
}
