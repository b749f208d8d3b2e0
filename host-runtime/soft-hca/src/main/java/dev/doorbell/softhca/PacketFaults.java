package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The packets of one direction of an HCA, as a fault plan lets them through: between its queue
 * pairs and whatever wire it is on.
 */
final class PacketFaults {
  /** A packet that nobody passes by goes on after so long all the same. */
  private static final long LONGEST_SETBACK_NANOS = 100_000;

  private final SoftHca hca;
  private final HcaFaults faults;
  private final DevicePort port;
  private final FaultInjector injector;
  private final FaultEvent event;

  /** Packets that come later, and all behind them: first in, first out. */
  private final ArrayDeque<Held> delayed = new ArrayDeque<>();

  /** Packets that let others pass. */
  private final List<Held> setBack = new ArrayList<>();

  private final Completion delayOver = this::delayOver;
  private boolean timing;

  /** A packet with its way, or without one when it has arrived. */
  private static final class Held {
    final Packet packet;
    final @Nullable Route way;
    long due;
    int passing;

    Held(Packet packet, @Nullable Route way) {
      this.packet = packet;
      this.way = way;
    }
  }

  PacketFaults(SoftHca hca, HcaFaults faults, FaultInjector injector, FaultEvent event) {
    this.hca = hca;
    this.faults = faults;
    this.port = hca.port;
    this.injector = injector;
    this.event = event;
  }

  /**
   * Takes a packet over.
   *
   * @param way on which it leaves; null when it has arrived
   * @param queuePair that sends it or that it is for; null when there is none of that number
   */
  void pass(Packet packet, @Nullable Route way, @Nullable SoftQueuePair queuePair) {
    if (queuePair != null && queuePair.failing) {
      packet.pool.release(packet);
      return;
    }
    int ordinal = queuePair == null ? HcaFaults.NOBODY : queuePair.ordinal;
    Fault fault = injector.on(event, ordinal, packet.opcode, port.now());
    if (fault == null) {
      goOn(packet, way, 0);
      return;
    }
    switch (fault.action()) {
      case LOSE -> packet.pool.release(packet);
      case CORRUPT -> corrupt(packet, way);
      case DUPLICATE -> {
        Packet twin = packet.pool.takeSpare();
        twin.copyOf(packet);
        goOn(packet, way, 0);
        goOn(twin, way, 0);
      }
      case REORDER -> setBack(packet, way, fault.number());
      case DELAY -> goOn(packet, way, fault.nanos());
      case LINK_DOWN -> {
        packet.pool.release(packet);
        faults.linkDown();
      }
      case QP_ERROR -> {
        packet.pool.release(packet);
        if (queuePair != null) {
          queuePair.failSoon();
        }
      }
      default -> throw new IllegalStateException(fault + " does not happen to packets");
    }
  }

  private static void corrupt(Packet packet, @Nullable Route way) {
    if (way == null) {
      packet.pool.release(packet);
    } else {
      way.transmitCorrupt(packet);
    }
  }

  private void goOn(Packet packet, @Nullable Route way, long delayNanos) {
    if (delayNanos == 0 && delayed.isEmpty()) {
      forward(packet, way);
      letPass();
      return;
    }
    packet.keep();
    Held late = new Held(packet, way);
    long before = delayed.isEmpty() ? Long.MIN_VALUE : delayed.getLast().due;
    late.due = Math.max(before, port.now() + delayNanos);
    delayed.add(late);
    startTimer();
  }

  private void startTimer() {
    Held first = delayed.peek();
    if (first != null && !timing) {
      timing = true;
      port.timer(Math.max(0, first.due - port.now()), delayOver);
    }
  }

  private void delayOver(boolean ok) {
    timing = false;
    long now = port.now();
    Held first = delayed.peek();
    while (first != null && first.due <= now) {
      delayed.remove();
      forward(first.packet, first.way);
      letPass();
      first = delayed.peek();
    }
    startTimer();
  }

  private void setBack(Packet packet, @Nullable Route way, int by) {
    packet.keep();
    Held one = new Held(packet, way);
    one.passing = by;
    setBack.add(one);
    port.timer(LONGEST_SETBACK_NANOS, ok -> release(one));
  }

  private void letPass() {
    for (int i = setBack.size() - 1; i >= 0; i--) {
      Held one = setBack.get(i);
      if (--one.passing <= 0) {
        release(one);
      }
    }
  }

  private void release(Held one) {
    if (setBack.remove(one)) {
      forward(one.packet, one.way);
    }
  }

  private void forward(Packet packet, @Nullable Route way) {
    if (way == null) {
      hca.arrive(packet);
    } else if (hca.isLinkUp()) {
      way.transmit(packet);
    } else {
      packet.pool.release(packet);
    }
  }

  /** Gives back what is held: the HCA is closed. */
  void drop() {
    for (Held one : delayed) {
      one.packet.pool.release(one.packet);
    }
    delayed.clear();
    for (Held one : setBack) {
      one.packet.pool.release(one.packet);
    }
    setBack.clear();
  }
}
