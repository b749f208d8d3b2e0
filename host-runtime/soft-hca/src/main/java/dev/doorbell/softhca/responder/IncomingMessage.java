package dev.doorbell.softhca.responder;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import org.jspecify.annotations.Nullable;

/**
 * The WRITE or SEND that is arriving on a connection, packet by packet. A packet is carried out
 * when everything that it needs is at hand, and has no effect before.
 */
final class IncomingMessage {
  /** {@link #accept}: carried out. */
  static final int DONE = 0;

  /** {@link #accept}: something that it needs is on its way; ask again when the QP is woken. */
  static final int HOLD = -1;

  /** {@link #accept}: there is no receive WQE. */
  static final int NOT_READY = -2;

  private enum Kind {
    NONE,
    WRITE,
    SEND
  }

  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final ReceiveConsumer receives;
  private final RequestChecks checks;
  private final int mtu;

  private Kind kind = Kind.NONE;
  private long writeAddress;
  private long messageBytes;
  private long receivedBytes;
  private @Nullable SoftMemoryRegion region;
  private AsyncEvent.@Nullable Type event;

  IncomingMessage(
      QueuePairContext queuePair, HcaServices hca, ReceiveConsumer receives, RequestChecks checks) {
    this.queuePair = queuePair;
    this.checks = checks;
    this.hca = hca;
    this.receives = receives;
    this.mtu = queuePair.mtu();
  }

  /** True between a FIRST and its LAST. */
  boolean isOpen() {
    return kind != Kind.NONE;
  }

  /** Forgets what has arrived: the rest will not come. */
  void drop() {
    if (kind == Kind.SEND) {
      // The receive WQE is filled anew by the next message.
      receives.begin();
    }
    kind = Kind.NONE;
  }

  /** The asynchronous event when {@link #accept} refused, or null when a CQE reports it. */
  AsyncEvent.@Nullable Type event() {
    return event;
  }

  private int refuse(int syndrome, AsyncEvent.@Nullable Type type) {
    event = type;
    return syndrome;
  }

  private int invalid() {
    return refuse(Aeth.NAK_INVALID_REQUEST, AsyncEvent.Type.QP_REQUEST_ERROR);
  }

  /**
   * Carries a packet of a WRITE or SEND out.
   *
   * @return {@link #DONE}, {@link #HOLD}, {@link #NOT_READY}, or the syndrome of a NAK
   */
  int accept(Packet packet, int operation) {
    if (operation >= BthOpcode.WRITE_FIRST && operation <= BthOpcode.WRITE_ONLY_IMM) {
      return write(packet, operation);
    }
    return operation < BthOpcode.WRITE_FIRST || PacketOpcode.invalidates(operation)
        ? send(packet, operation)
        : invalid();
  }

  private int write(Packet packet, int operation) {
    boolean first = BthOpcode.isFirst(operation);
    boolean last = PacketOpcode.isLast(operation);
    boolean immediate = PacketOpcode.hasImmediate(operation);
    int bytes = packet.bytes;
    if (first != (kind == Kind.NONE) || (!first && kind != Kind.WRITE)) {
      return invalid();
    }
    long address = writeAddress;
    SoftMemoryRegion target = region;
    long done = receivedBytes;
    long length = messageBytes;
    if (first) {
      address = packet.remoteAddress;
      length = packet.dmaLength & 0xffff_ffffL;
      done = 0;
      int refusal = checks.check(packet.rkey, address, length, Rights.REMOTE_WRITE);
      if (refusal != 0) {
        return refuse(refusal, RequestChecks.event(refusal));
      }
      target = checks.region;
    }
    if (!first && target != null && !target.isLive()) {
      return refuse(Aeth.NAK_REMOTE_ACCESS, AsyncEvent.Type.QP_ACCESS_ERROR);
    }
    if (bytes > mtu || (last ? done + bytes != length : bytes != mtu || done + bytes > length)) {
      return invalid();
    }
    if (immediate && !receives.isReady()) {
      return noReceive();
    }
    if (immediate && faultTakesReceive()) {
      return NOT_READY;
    }
    if (bytes > 0 && target != null) {
      try {
        receives.place(packet, target, address, last);
      } catch (AccessFault gone) {
        return refuse(Aeth.NAK_REMOTE_OPERATION, AsyncEvent.Type.QP_FATAL);
      }
    }
    if (first) {
      checks.count(Rights.REMOTE_WRITE);
    }
    if (immediate) {
      receives.complete(packet, Cqe.RESPONDER_WRITE_IMM, length);
    }
    if (last) {
      kind = Kind.NONE;
    } else {
      writeAddress = address + bytes;
      region = target;
      receivedBytes = done + bytes;
      messageBytes = length;
      kind = Kind.WRITE;
    }
    return DONE;
  }

  private boolean faultTakesReceive() {
    HcaFaults faults = hca.faults();
    return faults != null && faults.takesReceive(queuePair, queuePair.isReliable());
  }

  private int noReceive() {
    if (receives.broken) {
      return refuse(Aeth.NAK_REMOTE_OPERATION, AsyncEvent.Type.QP_FATAL);
    }
    return receives.empty ? NOT_READY : HOLD;
  }

  private int send(Packet packet, int operation) {
    boolean first = BthOpcode.isFirst(operation);
    boolean last = PacketOpcode.isLast(operation);
    if (first != (kind == Kind.NONE) || (!first && kind != Kind.SEND)) {
      return invalid();
    }
    if (last ? packet.bytes > mtu : packet.bytes != mtu) {
      return invalid();
    }
    if (!receives.isReady()) {
      return noReceive();
    }
    if (first && faultTakesReceive()) {
      return NOT_READY;
    }
    SoftMemoryRegion ended = null;
    if (PacketOpcode.invalidates(operation)) {
      ended = queuePair.regions.find(packet.invalidatedKey);
      if (ended == null || ended.remoteRefusal(queuePair, ended.address(), 0, 0) != 0) {
        return refuse(Aeth.NAK_REMOTE_ACCESS, AsyncEvent.Type.QP_ACCESS_ERROR);
      }
    }
    if (first) {
      receives.begin();
      receivedBytes = 0;
      kind = Kind.SEND;
    }
    int syndrome = receives.scatter(packet);
    if (syndrome != 0) {
      return badReceive(syndrome);
    }
    receivedBytes += packet.bytes;
    if (last) {
      if (ended != null) {
        receives.placeAll();
        ended.invalidate();
      }
      receives.complete(packet, completionOf(operation), receivedBytes);
      kind = Kind.NONE;
    }
    return DONE;
  }

  private static int completionOf(int operation) {
    if (PacketOpcode.invalidates(operation)) {
      return Cqe.RESPONDER_SEND_INVAL;
    }
    return PacketOpcode.hasImmediate(operation) ? Cqe.RESPONDER_SEND_IMM : Cqe.RESPONDER_SEND;
  }

  /** Too long a message is the sender's fault; a bad buffer is ours. */
  private int badReceive(int syndrome) {
    boolean tooLong = syndrome == Syndrome.LOCAL_LENGTH;
    if (tooLong && !queuePair.isReliable()) {
      return refuse(Aeth.NAK_INVALID_REQUEST, null);
    }
    if (tooLong) {
      hca.counters().add(Counter.RESP_LOCAL_LENGTH_ERROR);
    }
    receives.fail(syndrome);
    kind = Kind.NONE;
    return refuse(tooLong ? Aeth.NAK_INVALID_REQUEST : Aeth.NAK_REMOTE_OPERATION, null);
  }
}
