package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Applies a fault plan to the packets of one direction, between an HCA's queue pairs and its wire.
 */
final class PacketFaults {
  /** Limit on how long a reordered packet waits for others to overtake it. */
  private static final long LONGEST_REORDER_NANOS = 100_000;

  private final HcaServices device;
  private final HcaFaults faults;
  private final DevicePort port;
  private final FaultEvent event;

  /** Delayed packets and all behind them, first in, first out. */
  private final DelayLine<Held> delayed;

  /** Reordered packets, which others overtake. */
  private final List<Held> reordered = new ArrayList<>();

  /** A packet with its route, or without one when it has arrived. */
  private static final class Held {
    final Packet packet;
    final @Nullable Route route;
    int overtakersLeft;

    Held(Packet packet, @Nullable Route route) {
      this.packet = packet;
      this.route = route;
    }
  }

  PacketFaults(HcaServices device, HcaFaults faults, FaultEvent event) {
    this.device = device;
    this.faults = faults;
    this.port = device.port();
    this.event = event;
    this.delayed =
        new DelayLine<>(
            port,
            held -> {
              forward(held.packet, held.route);
              countOvertaking();
            });
  }

  /**
   * Takes a packet over.
   *
   * @param route on which it leaves; null when it has arrived
   * @param queuePair that sends it or that it is for; null when there is none of that number
   */
  void pass(Packet packet, @Nullable Route route, @Nullable FaultTarget queuePair) {
    if (queuePair != null && queuePair.isFailing()) {
      packet.pool.release(packet);
      return;
    }
    Fault fault = faults.on(event, queuePair, packet.opcode);
    if (fault == null) {
      passOn(packet, route, 0);
      return;
    }
    switch (fault.action()) {
      case LOSE -> packet.pool.release(packet);
      case CORRUPT -> corrupt(packet, route);
      case DUPLICATE -> {
        Packet twin = packet.pool.takeSpare();
        twin.copyOf(packet);
        passOn(packet, route, 0);
        passOn(twin, route, 0);
      }
      case REORDER -> reorder(packet, route, fault.number());
      case DELAY -> passOn(packet, route, fault.nanos());
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

  private static void corrupt(Packet packet, @Nullable Route route) {
    if (route == null) {
      packet.pool.release(packet);
    } else {
      route.transmitCorrupt(packet);
    }
  }

  private void passOn(Packet packet, @Nullable Route route, long delayNanos) {
    if (delayNanos == 0 && delayed.size() == 0) {
      forward(packet, route);
      countOvertaking();
    } else {
      packet.keep();
      delayed.add(new Held(packet, route), delayNanos);
    }
  }

  private void reorder(Packet packet, @Nullable Route route, int by) {
    packet.keep();
    Held one = new Held(packet, route);
    one.overtakersLeft = by;
    reordered.add(one);
    port.timer(LONGEST_REORDER_NANOS, ok -> release(one));
  }

  private void countOvertaking() {
    for (int i = reordered.size() - 1; i >= 0; i--) {
      Held one = reordered.get(i);
      if (--one.overtakersLeft <= 0) {
        release(one);
      }
    }
  }

  private void release(Held one) {
    if (reordered.remove(one)) {
      forward(one.packet, one.route);
    }
  }

  private void forward(Packet packet, @Nullable Route route) {
    if (route == null) {
      device.arrive(packet);
    } else if (device.isLinkUp()) {
      route.transmit(packet);
    } else {
      packet.pool.release(packet);
    }
  }

  /** Gives back what is held: the HCA is closed. */
  void drop() {
    delayed.drain(held -> held.packet.pool.release(held.packet));
    for (Held one : reordered) {
      one.packet.pool.release(one.packet);
    }
    reordered.clear();
  }
}
