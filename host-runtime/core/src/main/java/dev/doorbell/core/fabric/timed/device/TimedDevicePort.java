package dev.doorbell.core.fabric.timed.device;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Component;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A device's DMA: posted writes in order, reads cut at the largest read request and held back by
 * tags, both in pieces of at most 4 KiB so that others get a turn on the links.
 */
public final class TimedDevicePort extends DevicePort {
  private static final int BUDGET = 512;
  private static final int TURNS_WITHOUT_TIME = 10_000_000;

  /** Counts up with every port that is attached. */
  private final long number;

  private final Interconnect interconnect;
  private final EventQueue queue;
  private final Component component;
  private final long onChipRead;
  private final Agent agent;
  private final boolean passive;
  private final Turn turn = new Turn();
  private final DmaEngine engine;
  private final ReadEngine reads;
  private final List<WriteQueue> writes = new ArrayList<>();

  private boolean attached = true;
  private long apart;
  private long turnsAt = -1;
  private int turns;

  /** The device's turn to run. */
  private final class Turn extends Event {
    @Override
    protected void fire() {
      takeTurn(time());
    }
  }

  /** A timer, a delay, or a refusal on its way. */
  final class Timer extends Event {
    private final Completion completion;
    private final boolean ok;

    Timer(Completion completion, boolean ok) {
      this.completion = completion;
      this.ok = ok;
    }

    @Override
    protected void fire() {
      finish(completion, ok);
    }

    boolean isFree(TimedDevicePort at) {
      return !scheduled() && at.equals(TimedDevicePort.this);
    }
  }

  /** The end of a delay at another device, which has its turn then. */
  private final class Arrival extends Event {
    private final TimedDevicePort at;
    private final Completion completion;

    Arrival(TimedDevicePort at, Completion completion) {
      this.at = at;
      this.completion = completion;
    }

    @Override
    protected void fire() {
      if (attached) {
        completion.completed(true);
        at.step();
      }
    }
  }

  /**
   * Adds a device at {@code component}, whose first turn is now.
   *
   * @param number of the port, in the order of attachment
   */
  public TimedDevicePort(Interconnect interconnect, Component component, Agent agent, long number) {
    this.number = number;
    this.interconnect = interconnect;
    this.queue = interconnect.queue();
    this.component = component;
    this.agent = agent;
    this.passive = agent instanceof Agent.Passive;
    NicPrices prices =
        component.locus.part() == Locus.Part.NIC
            ? interconnect.topology().nics().get(component.locus.index())
            : Prices.of(NicPrices.class, Map.of("maxReadRequest", Tlp.REQUEST_BOUNDARY));
    this.onChipRead = Picos.of(prices.onChipRead());
    this.engine = new DmaEngine(prices.dma());
    this.reads = new ReadEngine(interconnect, component, prices, engine, this);
    step();
  }

  /** The order in which ports were attached. */
  public long number() {
    return number;
  }

  /** Ends it: the device has no further turn. */
  public void detach() {
    attached = false;
    queue.remove(turn);
  }

  /** The device has something to do now. */
  public void step() {
    if (attached && !turn.scheduled() && !passive) {
      queue.schedule(turn, queue.clock());
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

  /** Does the same as {@link #finish}, {@code picos} later. */
  Timer finishAfter(long picos, Completion completion, boolean ok) {
    Timer timer = new Timer(completion, ok);
    queue.schedule(timer, queue.clock() + picos);
    return timer;
  }

  /** Reports the end of something that the device started. */
  void finish(Completion completion, boolean ok) {
    if (attached) {
      completion.completed(ok);
      step();
    }
  }

  @Override
  public long map(long address, int bytes) {
    AccessPath path = component.path("DMA read", address, bytes);
    return path.local && onChipRead == 0 ? address : 0;
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    AccessPath path = memory("DMA read", address, bytes);
    if (bytes == 0) {
      return true;
    }
    if (path.local) {
      RawMemory.copy(address, target, bytes);
      return delayPicos(onChipRead, completion);
    }
    reads.read(path, writes(path), address, target, bytes, null, completion);
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
    AccessPath path = memory("DMA write", address, bytes);
    if (bytes == 0) {
      return true;
    }
    if (path.local) {
      RawMemory.copy(source, address, bytes);
      interconnect.written(component, address, bytes, queue.clock());
      return true;
    }
    writes(path).add(path, source, address, bytes, relaxed, visible);
    return false;
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    AccessPath path = memory("DMA atomic", address, bytes);
    if (path.local) {
      ReadEngine.apply(interconnect, path, address, bytes, result, atomic, queue.clock());
      return delayPicos(onChipRead, completion);
    }
    reads.read(path, writes(path), address, result, bytes, atomic, completion);
    return false;
  }

  @Override
  public void apart(long nanos) {
    apart = nanos * Picos.PER_NANO;
  }

  /** Picoseconds that whatever it does needs at least to reach another rank; 0: not known. */
  public long apart() {
    return apart;
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return delayPicos(nanos * Picos.PER_NANO, completion);
  }

  @Override
  public boolean delay(DevicePort there, long nanos, Completion completion) {
    if (nanos <= 0 || !(there instanceof TimedDevicePort other)) {
      return delay(nanos, completion);
    }
    queue.send(other.queue, new Arrival(other, completion), nanos * Picos.PER_NANO);
    return false;
  }

  @Override
  public boolean runsBeside(DevicePort there) {
    return queue.runsBeside()
        && there instanceof TimedDevicePort other
        && !other.queue.equals(queue);
  }

  private boolean delayPicos(long picos, Completion completion) {
    if (picos <= 0) {
      return true;
    }
    finishAfter(picos, completion, true);
    return false;
  }

  @Override
  public void timer(long nanos, Completion completion) {
    long picos = Math.max(0, nanos) * Picos.PER_NANO;
    if (!(completion instanceof Completion.Cancellable last)) {
      finishAfter(picos, completion, true);
    } else if (last.timer instanceof Timer kept && kept.isFree(this)) {
      queue.schedule(kept, queue.clock() + picos);
    } else {
      last.timer = finishAfter(picos, completion, true);
    }
  }

  @Override
  public boolean cancelTimer(Completion.Cancellable completion) {
    if (!(completion.timer instanceof Timer timer) || !timer.scheduled()) {
      return false;
    }
    queue.remove(timer);
    return true;
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    interconnect.routeMmio(page, target, this::step);
  }

  @Override
  public void offMmio(long page) {
    interconnect.unrouteMmio(page);
  }

  @Override
  public long now() {
    return queue.clock() / Picos.PER_NANO;
  }

  private AccessPath memory(String what, long address, int bytes) {
    if (bytes < 0) {
      throw interconnect.memory().fault(what, address, bytes);
    }
    AccessPath path = component.path(what, address, Math.max(1, bytes));
    if (path.uar) {
      throw interconnect.memory().fault(what, address, bytes);
    }
    return path;
  }

  private WriteQueue writes(AccessPath path) {
    Route route = path.out();
    for (WriteQueue each : writes) {
      if (each.route() == route) {
        return each;
      }
    }
    WriteQueue made = new WriteQueue(interconnect, this, route, engine, reads);
    writes.add(made);
    return made;
  }
}
