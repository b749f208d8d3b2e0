package dev.doorbell.core.fabric;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.Scheduler;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
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
  private final AddressSpace memory;
  private final Scheduler scheduler;
  private final MmioPages mmio;
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
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
    return new DirectThreadPort(memory, mmio);
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    scheduler.addDevice(agent);
    return new DirectDevicePort(memory, mmio, this::addTimer);
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
    boolean ended =
        scheduler.run(
            () -> {
              if (!timers.isEmpty()) {
                fireTimers();
              }
              return done.getAsBoolean();
            },
            deadline);
    return ended ? RunOutcome.DONE : RunOutcome.DEADLINE;
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
