package dev.doorbell.softhca.responder;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.Psn;

/**
 * The receiving half of unreliable connections and datagrams. Nothing is answered: what cannot be
 * carried out is dropped, a message as a whole (InfiniBand, chapters 9.8.3 and 9.8.4). A datagram's
 * receive begins with 40 bytes of global route header.
 */
final class UnreliableResponder extends Responder {
  static final int GLOBAL_ROUTE_BYTES = 40;

  /** Version 6, and the next header of InfiniBand. */
  private static final int VERSION = 6 << 28;

  private static final int NEXT_HEADER = 0x1b;

  /** BTH, DETH and ICRC: what the header's length counts besides extended headers and payload. */
  private static final int BTH_AND_CRC = 16;

  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final ReceiveConsumer receives;
  private final IncomingMessage message;
  private final long scratch;
  private final int mtu;
  private final boolean datagrams;

  private int expectedPsn;

  /** The rest of a message is of no use: until the next one begins. */
  private boolean dropping;

  UnreliableResponder(
      QueuePairContext queuePair, HcaServices hca, ReceiveConsumer receives, int expectedPsn) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.receives = receives;
    this.expectedPsn = expectedPsn;
    this.mtu = queuePair.mtu();
    this.scratch = hca.scratch();
    this.message = new IncomingMessage(queuePair, hca, receives);
    this.datagrams = queuePair.isDatagram();
  }

  @Override
  public int run() {
    int work = runWaiting();
    if (queuePair.state() == QueuePairState.ERR) {
      work += receives.flush();
    }
    return work;
  }

  @Override
  public void acknowledge() {
    // Nothing is acknowledged.
  }

  @Override
  public void discard() {
    receives.release();
    discardWaiting();
  }

  @Override
  boolean process(Packet packet) {
    QueuePairState state = queuePair.state();
    if (state != QueuePairState.RTS && state != QueuePairState.RTR) {
      return true;
    }
    queuePair.responses.arrives(packet.knowledge);
    return datagrams ? datagram(packet) : connected(packet);
  }

  private boolean connected(Packet packet) {
    int operation = PacketOpcode.operation(packet.opcode);
    if (packet.psn != expectedPsn) {
      // A gap ends the message; the next one that begins sets the count.
      lose();
    }
    if (BthOpcode.isFirst(operation)) {
      if (message.isOpen()) {
        lose();
      }
      dropping = false;
    }
    expectedPsn = Psn.add(packet.psn, 1);
    if (dropping) {
      return true;
    }
    int outcome = message.accept(packet, operation);
    if (outcome == IncomingMessage.HOLD) {
      // Come again: the same packet is expected then.
      expectedPsn = packet.psn;
      return false;
    }
    if (outcome != IncomingMessage.DONE) {
      lose();
      if (receives.isBroken() || message.event() == AsyncEvent.Type.QP_FATAL) {
        hca.raise(AsyncEvent.Type.QP_FATAL, queuePair.number);
        queuePair.enterError();
      }
    }
    return true;
  }

  private void lose() {
    message.drop();
    dropping = true;
  }

  private boolean datagram(Packet packet) {
    int operation = PacketOpcode.operation(packet.opcode);
    boolean send = operation == BthOpcode.SEND_ONLY || operation == BthOpcode.SEND_ONLY_IMM;
    if (!send || packet.bytes > mtu || packet.queueKey != queuePair.connection().queueKey()) {
      return true;
    }
    if (!receives.isReady()) {
      if (receives.isBroken()) {
        hca.raise(AsyncEvent.Type.QP_FATAL, queuePair.number);
        queuePair.enterError();
        return true;
      }
      return receives.isEmpty();
    }
    HcaFaults faults = hca.faults();
    if (faults != null && faults.takesReceive(queuePair, false)) {
      return true;
    }
    receives.begin();
    globalRoute(packet);
    int syndrome = receives.scatter(packet, scratch, GLOBAL_ROUTE_BYTES, false);
    if (syndrome == 0) {
      syndrome = receives.scatter(packet);
    }
    if (syndrome == 0) {
      receives.complete(
          packet,
          PacketOpcode.hasImmediate(operation) ? Cqe.RESPONDER_SEND_IMM : Cqe.RESPONDER_SEND,
          GLOBAL_ROUTE_BYTES + (long) packet.bytes);
    } else if (syndrome != Syndrome.LOCAL_LENGTH) {
      receives.fail(syndrome);
      queuePair.enterError();
    }
    return true;
  }

  /** Puts the header together as InfiniBand lays it out (chapter 8.3). */
  private void globalRoute(Packet packet) {
    int length =
        BTH_AND_CRC + BthOpcode.headerBytes(packet.opcode) + packet.bytes + packet.padBytes();
    BigEndian.putInt(scratch, VERSION | packet.trafficClass << 20 | packet.flowLabel);
    BigEndian.putInt(scratch + 4, length << 16 | NEXT_HEADER << 8 | packet.hopLimit);
    BigEndian.putLong(scratch + 8, packet.sourceGidHigh);
    BigEndian.putLong(scratch + 16, packet.sourceGidLow);
    BigEndian.putLong(scratch + 24, packet.destinationGidHigh);
    BigEndian.putLong(scratch + 32, packet.destinationGidLow);
  }
}
