package dev.doorbell.softhca;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Memory at once, and a clock that moves only when nobody has anything to do, straight to the next
 * timer: waits of seconds cost nothing, and every run with the same seed is the same.
 */
final class SteppedFabric extends Fabric {
  private static final int BUDGET = 64;

  /** Sweeps in which something is always done though no time passes: a hang. */
  private static final int SWEEPS_WITHOUT_TIME = 1_000_000;

  private final DirectFabric direct;
  private final List<Agent> agents = new ArrayList<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final boolean immediate;
  private long made;
  private long clock;

  /** Learns of what devices write, in order; null for nobody. */
  @Nullable Writes writes;

  /** Learns of a write or an atomic of a device. */
  @FunctionalInterface
  interface Writes {
    void written(long address, int bytes, boolean relaxed);
  }

  private record Timer(long at, long order, Completion completion) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
    }
  }

  SteppedFabric(long bytes) {
    this(bytes, false);
  }

  /**
   * @param immediate devices know that everything of theirs ends at once
   */
  SteppedFabric(long bytes, boolean immediate) {
    this.immediate = immediate;
    direct = new DirectFabric(AddressSpace.reserve(bytes), 0);
  }

  @Override
  public AddressSpace memory() {
    return direct.memory();
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    agents.add(agent);
    return direct.attachThread(locus, agent);
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    agents.add(agent);
    return new Port(direct.attachDevice(locus, agent));
  }

  @Override
  public void detach(Agent agent) {
    agents.remove(agent);
    direct.detach(agent);
  }

  @Override
  public void wake(Agent agent) {
    // Every agent is stepped in every sweep.
  }

  /** Calls {@code completion} after {@code nanos}. */
  void timer(long nanos, Completion completion) {
    timers.add(new Timer(clock + nanos, made++, completion));
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    long deadline = clock + nanos;
    int sweeps = 0;
    while (!done.getAsBoolean()) {
      int work = 0;
      for (int i = 0; i < agents.size(); i++) {
        work += agents.get(i).step(BUDGET);
      }
      if (work > 0) {
        if (++sweeps > SWEEPS_WITHOUT_TIME) {
          throw new IllegalStateException("work without end: " + agents.getFirst().where());
        }
        continue;
      }
      if (done.getAsBoolean()) {
        break;
      }
      sweeps = 0;
      Timer next = timers.peek();
      if (next == null) {
        return RunOutcome.STALLED;
      }
      if (next.at > deadline) {
        clock = deadline;
        return RunOutcome.DEADLINE;
      }
      timers.remove();
      clock = next.at;
      next.completion.completed(true);
    }
    return RunOutcome.DONE;
  }

  @Override
  public long now() {
    return clock;
  }

  @Override
  public Basis basis() {
    return Basis.EMULATED;
  }

  @Override
  public void close() {
    direct.close();
  }

  /** The direct fabric's port with this fabric's clock. */
  private final class Port extends DevicePort {
    private final DevicePort inner;

    Port(DevicePort inner) {
      this.inner = inner;
    }

    private void tell(long address, int bytes, boolean relaxed) {
      if (writes != null) {
        writes.written(address, bytes, relaxed);
      }
    }

    @Override
    public long map(long address, int bytes) {
      return inner.map(address, bytes);
    }

    @Override
    public boolean read(long address, long target, int bytes, Completion completion) {
      return inner.read(address, target, bytes, completion);
    }

    @Override
    public void write(long source, long address, int bytes, boolean relaxed) {
      tell(address, bytes, relaxed);
      inner.write(source, address, bytes, relaxed);
    }

    @Override
    public boolean writeThen(
        long source, long address, int bytes, boolean relaxed, Completion visible) {
      return inner.writeThen(source, address, bytes, relaxed, visible);
    }

    @Override
    public boolean atomic(
        long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
      tell(address, bytes, false);
      return inner.atomic(address, bytes, result, atomic, completion);
    }

    @Override
    public boolean isImmediate() {
      return immediate;
    }

    @Override
    public boolean delay(long nanos, Completion completion) {
      if (nanos == 0) {
        return true;
      }
      timer(nanos, completion);
      return false;
    }

    @Override
    public void timer(long nanos, Completion completion) {
      SteppedFabric.this.timer(nanos, completion);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the very completion that was given
    public boolean cancelTimer(Completion.Cancellable completion) {
      return timers.removeIf(timer -> timer.completion == completion);
    }

    @Override
    public void onMmio(long page, MmioTarget target) {
      inner.onMmio(page, target);
    }

    @Override
    public void offMmio(long page) {
      inner.offMmio(page);
    }

    @Override
    public long now() {
      return clock;
    }
  }
}
