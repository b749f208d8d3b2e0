package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A fault plan at work in an HCA: asked wherever a fault can be tied to something, it makes it go
 * wrong. An HCA without a plan has none of these.
 *
 * <p>Asked on the thread that steps the HCA alone.
 */
final class HcaFaults {
  /** The ordinal of no queue pair. */
  static final int NOBODY = -1;

  private static final int NO_OPCODE = -1;

  private final SoftHca hca;
  private final DevicePort port;
  private final FaultInjector injector;
  private final PacketFaults leaving;
  private final PacketFaults arriving;
  private int rnrTimer = NOBODY;

  HcaFaults(SoftHca hca, FaultInjector injector) {
    this.hca = hca;
    this.port = hca.port;
    this.injector = injector;
    this.leaving = new PacketFaults(hca, this, injector, FaultEvent.PACKET_SENT);
    this.arriving = new PacketFaults(hca, this, injector, FaultEvent.PACKET_RECEIVED);
  }

  /** A packet leaves; takes it over. */
  void send(Packet packet, Route way, SoftQueuePair queuePair) {
    leaving.pass(packet, way, queuePair);
  }

  /** A packet has come from the wire; takes it over. */
  void receive(Packet packet) {
    arriving.pass(packet, null, hca.queuePairs.find(packet.destination));
  }

  /** The HCA is closed. */
  void drop() {
    leaving.drop();
    arriving.drop();
  }

  /** Takes the link down until the injector has it up again. */
  void linkDown() {
    hca.linkUp(false);
    port.timer(Math.max(0, injector.linkDownUntil() - port.now()), ok -> linkMayBeUp());
  }

  private void linkMayBeUp() {
    // A second fault may have prolonged it; that one's timer comes later.
    if (!injector.linkIsDown(port.now())) {
      hca.linkUp(true);
    }
  }

  /**
   * A WQE is about to be executed.
   *
   * @return true when it is not: the request has failed, or the queue pair is in error
   */
  boolean strikes(SoftQueuePair queuePair, SendRequest request) {
    Fault fault = injector.on(FaultEvent.WQE, queuePair.ordinal, request.opcode, port.now());
    if (fault == null) {
      return false;
    }
    return switch (fault.action()) {
      case CQE_ERROR -> {
        request.fail(fault.number(), VendorSyndrome.INJECTED);
        yield true;
      }
      case QP_ERROR -> {
        queuePair.failFromOutside();
        yield true;
      }
      default -> {
        linkDown();
        yield false;
      }
    };
  }

  /**
   * A doorbell has arrived.
   *
   * @param index that came with it, or {@link WqeSource#LOOK}
   * @return false when it is not to be heard now
   */
  boolean hears(SoftQueuePair queuePair, WqeSource wqes, int index) {
    Fault fault = injector.on(FaultEvent.DOORBELL, queuePair.ordinal, NO_OPCODE, port.now());
    if (fault == null) {
      return true;
    }
    return switch (fault.action()) {
      case DOORBELL_LOST -> {
        wqes.blueFlame().release();
        yield false;
      }
      case DOORBELL_LATE -> {
        port.timer(
            fault.nanos(),
            ok -> {
              wqes.hear(index);
              queuePair.activateFromOutside();
            });
        yield false;
      }
      case DOORBELL_TWICE -> {
        wqes.hear(index);
        yield true;
      }
      default -> {
        // The record says what it said when it was last looked at: there is nothing new. A WQE that
        // came with the doorbell needs no record.
        yield wqes.blueFlame().isFull();
      }
    };
  }

  /**
   * A completion is about to be written.
   *
   * @return nanoseconds by which it is late; 0 when it is not
   */
  long lateness(int qpn) {
    SoftQueuePair queuePair = hca.queuePairs.find(qpn);
    int ordinal = queuePair == null ? NOBODY : queuePair.ordinal;
    Fault fault = injector.on(FaultEvent.CQE, ordinal, NO_OPCODE, port.now());
    return fault == null ? 0 : fault.nanos();
  }

  /** A message needs a receive WQE: true when there shall be none. */
  boolean takesReceive(SoftQueuePair queuePair) {
    Fault fault = injector.on(FaultEvent.RECEIVE, queuePair.ordinal, NO_OPCODE, port.now());
    if (fault == null) {
      return false;
    }
    if (!queuePair.isUnreliable()) {
      rnrTimer = fault.number();
    }
    return true;
  }

  /** The timer code of the RNR NAK that is sent now: the fault's, once, or the usual one. */
  int rnrTimer(int usual) {
    int timer = rnrTimer < 0 ? usual : rnrTimer;
    rnrTimer = NOBODY;
    return timer;
  }

  /**
   * Payload is about to be written.
   *
   * @return true when it was taken over: it is written later, and others pass it
   */
  boolean postpones(SoftQueuePair queuePair, long source, long address, int bytes) {
    Fault fault = injector.on(FaultEvent.PAYLOAD, queuePair.ordinal, NO_OPCODE, port.now());
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
      // Its memory was freed meanwhile: a posted write has nobody to tell.
    }
  }

  /** A queue pair learns its peer: the fault that strikes, or null. */
  @Nullable Fault connecting(SoftQueuePair queuePair) {
    return injector.on(FaultEvent.CONNECT, queuePair.ordinal, NO_OPCODE, port.now());
  }

  /** On-chip memory is asked for: true when there shall be none. */
  boolean exhausted() {
    Fault fault = injector.on(FaultEvent.ALLOCATE, NOBODY, NO_OPCODE, port.now());
    return fault != null && fault.action() == FaultAction.MEMIC_EXHAUSTED;
  }

  /** The way to a GID that is nobody's. */
  static final class Nowhere extends Route {
    @Override
    public void transmit(Packet packet) {
      packet.pool.release(packet);
    }
  }
}
