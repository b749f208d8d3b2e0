package dev.doorbell.core.fault;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fault plan as one device meets it: asked at each event, it says what goes wrong, and counts.
 *
 * <p>Not safe for several threads: a device asks from the one that steps it. {@link #events} and
 * {@link #fired} may be read from others and are then a moment old.
 */
@SuppressWarnings("EnumOrdinal") // asked at every packet: an array by event
public final class FaultInjector {
  private static final FaultEvent[] EVENTS = FaultEvent.values();

  private static final class Watch {
    final Fault fault;
    final int index;
    long random;
    long events;
    long fired;

    /** Until when doorbells stay lost. */
    long lostUntil = Long.MIN_VALUE;

    Watch(Fault fault, int index, long random) {
      this.fault = fault;
      this.index = index;
      this.random = random;
    }

    /** The next draw of SplitMix64, in [0, 1). */
    double draw() {
      random += 0x9e3779b97f4a7c15L;
      return (mix(random) >>> 11) * 0x1p-53;
    }
  }

  private final long bound;
  private final int faults;
  private final List<Watch> all = new ArrayList<>();
  private final Watch[][] watches = new Watch[EVENTS.length][];
  private long linkDownUntil = Long.MIN_VALUE;
  private boolean wasDown;

  FaultInjector(FaultPlan plan, int rank, int device, long nowNanos) {
    this.bound = nowNanos;
    this.faults = plan.faults().size();
    for (int i = 0; i < faults; i++) {
      Fault fault = plan.faults().get(i);
      if (fault.target().covers(rank, device)) {
        long own = mix(plan.seed() ^ mix(((long) rank << 40) ^ ((long) device << 32) ^ i));
        all.add(new Watch(fault, i, own));
      }
    }
    for (FaultEvent event : EVENTS) {
      watches[event.ordinal()] =
          all.stream().filter(watch -> watch.fault.event() == event).toArray(Watch[]::new);
    }
  }

  static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    long b = (a ^ (a >>> 27)) * 0x94d049bb133111ebL;
    return b ^ (b >>> 31);
  }

  /**
   * An event happens: what goes wrong with it?
   *
   * <p>Every fault that is tied to it counts it, also behind the one that strikes.
   *
   * @param queuePair in the order in which the device's were made, or −1 where there is none
   * @param opcode of the packet or the WQE, or −1
   * @param nowNanos on the clock that the injector was bound with
   * @return the fault that strikes, or null
   */
  public @Nullable Fault on(FaultEvent event, int queuePair, int opcode, long nowNanos) {
    Fault struck = null;
    for (Watch watch : watches[event.ordinal()]) {
      Fault fault = watch.fault;
      FaultTarget target = fault.target();
      if ((target.queuePair() >= 0 && target.queuePair() != queuePair)
          || (fault.opcode() >= 0 && fault.opcode() != opcode)) {
        continue;
      }
      FaultTrigger trigger = fault.trigger();
      if (nowNanos - bound < trigger.afterNanos()) {
        continue;
      }
      long index = watch.events;
      watch.events = index + 1;
      boolean begins =
          trigger.names(index)
              && watch.fired < trigger.times()
              && (trigger.chance() >= 1 || watch.draw() < trigger.chance());
      if (struck != null || !(begins || nowNanos < watch.lostUntil)) {
        continue;
      }
      struck = fault;
      watch.fired++;
      if (begins && fault.action() == FaultAction.DOORBELL_LOST && fault.nanos() > 0) {
        watch.lostUntil = nowNanos + fault.nanos();
      }
    }
    if (struck != null && struck.action() == FaultAction.LINK_DOWN) {
      linkDownUntil = Math.max(linkDownUntil, nowNanos + struck.nanos());
      wasDown = true;
    }
    return struck;
  }

  /** True while a {@link FaultAction#LINK_DOWN} that struck lasts. */
  public boolean linkIsDown(long nowNanos) {
    return wasDown && nowNanos - linkDownUntil < 0;
  }

  /**
   * When the link comes up again, on the clock of {@link #on}; meaningless when it never was down.
   */
  public long linkDownUntil() {
    return linkDownUntil;
  }

  /** Events that the plan's {@code index}-th fault has seen here. */
  long events(int index) {
    for (Watch watch : all) {
      if (watch.index == index) {
        return watch.events;
      }
    }
    return 0;
  }

  /** Returns how often the plan's {@code index}-th fault has struck here. */
  long fired(int index) {
    for (Watch watch : all) {
      if (watch.index == index) {
        return watch.fired;
      }
    }
    return 0;
  }
}
