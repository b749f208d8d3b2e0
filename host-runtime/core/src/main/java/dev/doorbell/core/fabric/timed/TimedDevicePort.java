package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A device's DMA: posted writes in order, reads cut at the largest read request and held back by
 * tags, both in pieces of at most 4 KiB so that others get a turn on the links.
 */
final class TimedDevicePort extends DevicePort {
  private static final int BUDGET = 512;
  private static final int TURNS_WITHOUT_TIME = 10_000_000;

  /** Counts up with every port that is attached. */
  final long number;

  private final TimedFabric fabric;
  private final Place place;
  private final Agent agent;
  private final Turn turn = new Turn();
  private final ReadEngine reads;
  private final List<WriteQueue> writes = new ArrayList<>();
  private final List<Timer> cancellable = new ArrayList<>();
  private boolean attached = true;
  private long turnsAt = -1;
  private int turns;

  /** The device's turn to run. */
  private final class Turn extends Event {
    @Override
    void fire() {
      takeTurn(time);
    }
  }

  /** A timer or a delay. */
  private final class Timer extends Event {
    private final Completion completion;

    Timer(Completion completion) {
      this.completion = completion;
    }

    @Override
    void fire() {
      cancellable.remove(this);
      finish(completion, true);
    }
  }

  TimedDevicePort(TimedFabric fabric, Place place, Agent agent, long number) {
    this.number = number;
    this.fabric = fabric;
    this.place = place;
    this.agent = agent;
    this.reads = new ReadEngine(fabric, place, this);
    step();
  }

  void detach() {
    attached = false;
    fabric.queue().remove(turn);
  }

  /** The device has something to do now. */
  void step() {
    if (attached && !turn.scheduled()) {
      fabric.queue().schedule(turn, fabric.clock());
    }
  }

  private void takeTurn(long now) {
    if (now == turnsAt) {
      if (++turns > TURNS_WITHOUT_TIME) {
        throw new IllegalStateException(
            "%s works without end and without time passing".formatted(agent.where()));
      }
    } else {
      turnsAt = now;
      turns = 0;
    }
    if (agent.step(BUDGET) > 0) {
      step();
    }
  }

  /** Tells the device that something it started has ended. */
  void finish(Completion completion, boolean ok) {
    if (attached) {
      completion.completed(ok);
      step();
    }
  }

  @Override
  public long map(long address, int bytes) {
    Reach reach = place.reach("DMA read", address, bytes);
    return reach.local && place.onChipRead == 0 ? address : 0;
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    Reach reach = memory("DMA read", address, bytes);
    if (bytes == 0) {
      return true;
    }
    if (reach.local) {
      RawMemory.copy(address, target, bytes);
      return delayPicos(place.onChipRead, completion);
    }
    reads.read(reach, queue(reach), address, target, bytes, completion);
    return false;
  }

  @Override
  public void write(long source, long address, int bytes, boolean relaxed) {
    send(source, address, bytes, relaxed, null);
  }

  @Override
  public boolean writeThen(
      long source, long address, int bytes, boolean relaxed, Completion visible) {
    return send(source, address, bytes, relaxed, visible);
  }

  private boolean send(
      long source, long address, int bytes, boolean relaxed, @Nullable Completion visible) {
    Reach reach = memory("DMA write", address, bytes);
    if (bytes == 0) {
      return true;
    }
    if (reach.local) {
      RawMemory.copy(source, address, bytes);
      fabric.written(place, address, bytes, fabric.clock());
      return true;
    }
    queue(reach).add(reach, source, address, bytes, relaxed, visible);
    return false;
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    Reach reach = memory("DMA atomic", address, bytes);
    if (reach.local) {
      ReadEngine.apply(fabric, reach, address, bytes, result, atomic, fabric.clock());
      return delayPicos(place.onChipRead, completion);
    }
    reads.atomic(reach, queue(reach), address, bytes, result, atomic, completion);
    return false;
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return delayPicos(nanos * TimedFabric.PICOS, completion);
  }

  private boolean delayPicos(long picos, Completion completion) {
    if (picos <= 0) {
      return true;
    }
    fabric.queue().schedule(new Timer(completion), fabric.clock() + picos);
    return false;
  }

  @Override
  public void timer(long nanos, Completion completion) {
    Timer timer = new Timer(completion);
    cancellable.add(timer);
    fabric.queue().schedule(timer, fabric.clock() + Math.max(0, nanos) * TimedFabric.PICOS);
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // the very completion that was given
  public boolean cancelTimer(Completion completion) {
    for (int i = cancellable.size() - 1; i >= 0; i--) {
      Timer timer = cancellable.get(i);
      if (timer.completion == completion) {
        cancellable.remove(i);
        fabric.queue().remove(timer);
        return true;
      }
    }
    return false;
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    fabric.routeMmio(page, target, this);
  }

  @Override
  public void offMmio(long page) {
    fabric.unrouteMmio(page);
  }

  @Override
  public long now() {
    return fabric.now();
  }

  private Reach memory(String what, long address, int bytes) {
    if (bytes < 0) {
      throw fabric.memory().fault(what, address, bytes);
    }
    Reach reach = place.reach(what, address, Math.max(1, bytes));
    if (reach.uar) {
      throw fabric.memory().fault(what, address, bytes);
    }
    return reach;
  }

  private WriteQueue queue(Reach reach) {
    Route route = reach.out();
    for (WriteQueue queue : writes) {
      if (queue.route() == route) {
        return queue;
      }
    }
    WriteQueue made = new WriteQueue(fabric, this, route, reads);
    writes.add(made);
    return made;
  }
}
