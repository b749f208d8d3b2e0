package dev.doorbell.core.fabric;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.Scheduler;
import dev.doorbell.core.fabric.FarDevicePort.FarMemory;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.Collection;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * The fabric that is as fast as it can: every access touches native memory at once. Its clock is
 * the wall's, and what it measures is the emulation ({@link Basis#EMULATED}).
 *
 * <p>Agents are stepped, and timers fire, on the host thread that calls {@link #run}; attaching,
 * detaching and allocating belong to that thread too. Loads, stores, atomics and DMA may come from
 * any thread: their memory order is kept between host threads as well.
 */
public final class DirectFabric extends Fabric {
  private static final long QUIESCE_NANOS = 10_000_000_000L;

  private final AddressSpace memory;
  private final Scheduler scheduler;
  private final MmioPages mmio;
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
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
  }

  @Override
  public AddressSpace memory() {
    return memory;
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    scheduler.add(agent);
    return new DirectThreadPort(memory, mmio, locus);
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
  public void detachAll(Collection<? extends Agent> agents) {
    scheduler.removeAll(agents);
  }

  @Override
  public void wake(Agent agent) {
    // Every agent is stepped in every sweep.
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long deadline = System.nanoTime() + nanos;
    boolean ended =
        scheduler.run(
            () -> {
              fireTimers();
              return done.getAsBoolean();
            },
            deadline);
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
