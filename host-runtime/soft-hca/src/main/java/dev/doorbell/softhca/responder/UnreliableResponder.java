package dev.doorbell.softhca.responder;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.Ipv4Header;
import dev.doorbell.core.roce.Ipv6Header;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.Psn;

/**
 * The receiving half of unreliable connections, datagrams and frames. Nothing is answered: what
 * cannot be carried out is dropped, a message as a whole (InfiniBand, chapters 9.8.3 and 9.8.4). A
 * datagram's receive begins with 40 bytes of global route header.
 */
final class UnreliableResponder extends Responder {
  static final int GLOBAL_ROUTE_BYTES = 40;

  /** Version field of an IPv6 header. */
  private static final int VERSION = 6 << 28;

  /** UDP and BTH headers, and ICRC: what an IP header counts besides extended headers, payload. */
  private static final int UDP_BTH_AND_CRC = UdpHeader.BYTES + 16;

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
    this.message = new IncomingMessage(queuePair, hca, receives, new RequestChecks(queuePair, hca));
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
    return datagrams ? single(packet) : connected(packet);
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
      if (receives.broken || message.event() == AsyncEvent.Type.QP_FATAL) {
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

  /** A datagram, which has a global route and a key, or a frame, which has neither. */
  private boolean single(Packet packet) {
    int operation = PacketOpcode.operation(packet.opcode);
    boolean send = operation == BthOpcode.SEND_ONLY || operation == BthOpcode.SEND_ONLY_IMM;
    if (!send
        || packet.bytes > mtu
        || (datagrams && packet.queueKey != queuePair.connection().queueKey())) {
      return true;
    }
    if (!receives.isReady()) {
      if (receives.broken) {
        hca.raise(AsyncEvent.Type.QP_FATAL, queuePair.number);
        queuePair.enterError();
        return true;
      }
      return receives.empty;
    }
    HcaFaults faults = hca.faults();
    if (faults != null && faults.takesReceive(queuePair, false)) {
      return true;
    }
    receives.begin();
    int before = datagrams ? GLOBAL_ROUTE_BYTES : 0;
    int syndrome = 0;
    if (datagrams) {
      globalRoute(packet);
      syndrome = receives.scatter(packet, scratch, before, false);
    }
    if (syndrome == 0) {
      syndrome = receives.scatter(packet);
    }
    if (syndrome == 0) {
      receives.complete(
          packet,
          PacketOpcode.hasImmediate(operation) ? Cqe.RESPONDER_SEND_IMM : Cqe.RESPONDER_SEND,
          before + (long) packet.bytes);
    } else if (syndrome != Syndrome.LOCAL_LENGTH) {
      receives.fail(syndrome);
      queuePair.enterError();
    }
    return true;
  }

  /**
   * Puts the header together as RoCE v2 leaves it: the packet's IPv6 header, or its IPv4 header in
   * the last 20 bytes (IBTA annex A17).
   */
  private void globalRoute(Packet packet) {
    int length =
        UDP_BTH_AND_CRC + BthOpcode.headerBytes(packet.opcode) + packet.bytes + packet.padBytes();
    if (packet.isIpv4()) {
      BigEndian.putLong(scratch, 0);
      BigEndian.putLong(scratch + 8, 0);
      BigEndian.putInt(scratch + 16, 0);
      Ipv4Header.write(
          scratch + GLOBAL_ROUTE_BYTES - Ipv4Header.BYTES,
          packet.trafficClass,
          Ipv4Header.BYTES + length,
          0,
          packet.hopLimit,
          (int) packet.sourceGidLow,
          (int) packet.destinationGidLow);
      return;
    }
    BigEndian.putInt(scratch, VERSION | packet.trafficClass << 20 | packet.flowLabel);
    BigEndian.putInt(
        scratch + Ipv6Header.PAYLOAD_LENGTH_OFFSET,
        length << 16 | Ipv6Header.UDP << 8 | packet.hopLimit);
    BigEndian.putLong(scratch + Ipv6Header.SOURCE_OFFSET, packet.sourceGidHigh);
    BigEndian.putLong(scratch + Ipv6Header.SOURCE_OFFSET + 8, packet.sourceGidLow);
    BigEndian.putLong(scratch + Ipv6Header.DESTINATION_OFFSET, packet.destinationGidHigh);
    BigEndian.putLong(scratch + Ipv6Header.DESTINATION_OFFSET + 8, packet.destinationGidLow);
  }
}
