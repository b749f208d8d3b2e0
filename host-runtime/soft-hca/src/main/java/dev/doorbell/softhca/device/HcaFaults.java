package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Wire.Route;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A fault plan that is applied to an HCA: asked at every event that a fault can be tied to. An HCA
 * without a plan has none of these. Called on the thread that steps the HCA alone.
 */
public final class HcaFaults {
  /** The ordinal that stands for no queue pair. */
  private static final int NOBODY = -1;

  private static final int NO_OPCODE = -1;

  private final HcaServices device;
  private final DevicePort port;
  private final FaultInjector injector;
  private final PacketFaults leaving;
  private final PacketFaults arriving;
  private int rnrTimer = NOBODY;

  public HcaFaults(HcaServices device, FaultInjector injector) {
    this.device = device;
    this.port = device.port();
    this.injector = injector;
    this.leaving = new PacketFaults(device, this, FaultEvent.PACKET_SENT);
    this.arriving = new PacketFaults(device, this, FaultEvent.PACKET_RECEIVED);
  }

  /** The fault that strikes at an event of a queue pair, or null. */
  @Nullable Fault on(FaultEvent event, @Nullable FaultTarget queuePair, int opcode) {
    int ordinal = queuePair == null ? NOBODY : queuePair.ordinal();
    return injector.on(event, ordinal, opcode, port.now());
  }

  /** A packet leaves; takes it over. */
  public void send(Packet packet, Route route, FaultTarget queuePair) {
    leaving.pass(packet, route, queuePair);
  }

  /** A packet has come from the wire; takes it over. */
  public void receive(Packet packet) {
    arriving.pass(packet, null, device.faultTarget(packet.destination));
  }

  /** The HCA is closed. */
  public void drop() {
    leaving.drop();
    arriving.drop();
  }

  /** Takes the link down until the injector has it up again. */
  void linkDown() {
    device.linkUp(false);
    port.timer(Math.max(0, injector.linkDownUntil() - port.now()), ok -> linkMayBeUp());
  }

  private void linkMayBeUp() {
    // A second fault may have prolonged it; that one's timer comes later.
    if (!injector.linkIsDown(port.now())) {
      device.linkUp(true);
    }
  }

  /**
   * A WQE is about to be executed.
   *
   * @return a CQE_ERROR or QP_ERROR, for the caller to carry out; null when the WQE is executed
   */
  public @Nullable Fault onWqe(FaultTarget queuePair, int opcode) {
    Fault fault = on(FaultEvent.WQE, queuePair, opcode);
    if (fault == null || fault.action() != FaultAction.LINK_DOWN) {
      return fault;
    }
    linkDown();
    return null;
  }

  /** A doorbell has arrived: the fault that the caller carries out, or null. */
  public @Nullable Fault onDoorbell(FaultTarget queuePair) {
    return on(FaultEvent.DOORBELL, queuePair, NO_OPCODE);
  }

  /**
   * A completion of queue pair {@code qpn} is about to be written.
   *
   * @return nanoseconds by which it is late; 0 when it is not
   */
  public long lateness(int qpn) {
    Fault fault = on(FaultEvent.CQE, device.faultTarget(qpn), NO_OPCODE);
    return fault == null ? 0 : fault.nanos();
  }

  /**
   * A message needs a receive WQE.
   *
   * @param reliable whether the sender is answered with an RNR NAK
   * @return true when none is to be found
   */
  public boolean takesReceive(FaultTarget queuePair, boolean reliable) {
    Fault fault = on(FaultEvent.RECEIVE, queuePair, NO_OPCODE);
    if (fault != null && reliable) {
      rnrTimer = fault.number();
    }
    return fault != null;
  }

  /** The timer code of the RNR NAK that is sent now: the fault's, once, or the connection's. */
  public int rnrTimer(int ofConnection) {
    int timer = rnrTimer < 0 ? ofConnection : rnrTimer;
    rnrTimer = NOBODY;
    return timer;
  }

  /**
   * Payload is about to be written.
   *
   * @return true when it was taken over: it is written later, and later writes overtake it
   */
  public boolean postpones(FaultTarget queuePair, long source, long address, int bytes) {
    Fault fault = on(FaultEvent.PAYLOAD, queuePair, NO_OPCODE);
    if (fault == null) {
      return false;
    }
    if (fault.nanos() == 0) {
      port.write(source, address, bytes, true);
      return true;
    }
    MemorySegment copy = Arena.ofAuto().allocate(bytes, Long.BYTES);
    RawMemory.copy(source, copy.address(), bytes);
    port.timer(fault.nanos(), ok -> writeLate(copy, address));
    return true;
  }

  private void writeLate(MemorySegment bytes, long address) {
    try {
      port.write(bytes.address(), address, (int) bytes.byteSize(), true);
    } catch (AccessFault gone) {
      // Its memory was freed meanwhile: a posted write has no completion that could say so.
    }
  }

  /** A queue pair is connected: the fault that strikes, or null. */
  public @Nullable Fault onConnect(FaultTarget queuePair) {
    return on(FaultEvent.CONNECT, queuePair, NO_OPCODE);
  }

  /** On-chip memory is asked for: true when none is to be left. */
  public boolean exhausted() {
    Fault fault = on(FaultEvent.ALLOCATE, null, NO_OPCODE);
    return fault != null && fault.action() == FaultAction.MEMIC_EXHAUSTED;
  }

  /** A queue pair as a fault plan sees it. */
  public interface FaultTarget {
    /** Its place among the queue pairs of its HCA, in the order of their creation. */
    int ordinal();

    /** True between {@link #failSoon} and the error state: packets are dropped meanwhile. */
    boolean isFailing();

    /** Takes the queue pair to the error state in the next step. */
    void failSoon();
  }

  /**
   * Applies a fault plan to the packets of one direction, between an HCA's queue pairs and its
   * wire.
   */
  static final class PacketFaults {
    /** Limit on how long a reordered packet waits for others to overtake it. */
    private static final long LONGEST_REORDER_NANOS = 100_000;

    private static final Set<FaultAction> LOSING =
        EnumSet.of(
            FaultAction.LOSE, FaultAction.CORRUPT, FaultAction.LINK_DOWN, FaultAction.QP_ERROR);

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
      if (route == null && LOSING.contains(fault.action())) {
        device.counters().lost++;
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

    private void corrupt(Packet packet, @Nullable Route route) {
      if (route == null) {
        device.counters().add(Counter.RX_ICRC_ENCAPSULATED);
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
}
