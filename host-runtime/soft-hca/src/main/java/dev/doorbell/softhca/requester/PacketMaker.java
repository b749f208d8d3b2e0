package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SharedBuffer;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.PacketPool;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Wire.Route;
import org.jspecify.annotations.Nullable;

/** Cuts a request into packets of the path MTU and finds or fetches their payload. */
final class PacketMaker {
  /** Distance in packets between ACK requests inside a message. */
  private static final int ACK_INTERVAL = 256;

  /** ACK requests per window, where a window bounds the unacknowledged packets. */
  private static final int ACKS_PER_WINDOW = 4;

  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final PacketPool pool;
  private final DevicePort port;
  private final TxQueue tx;
  private final SharedBuffer buffer;
  private final SharedBuffer.Turn turn;
  private final @Nullable DynamicConnection dynamic;
  private final int mtu;
  private final int transport;
  private final int ackInterval;

  // Of the packet that was made last.

  /** Bytes of the frame of the packet that was made last. */
  int lastFrameBytes;

  /** True if the packet that was made last asks for an ACK. */
  boolean lastAsksForAck;

  /**
   * @param dynamic the present connection of an initiator; null on other transports
   * @param mostBetweenAcks distance in packets between ACK requests inside a message at most
   */
  PacketMaker(
      QueuePairContext queuePair,
      HcaServices hca,
      TxQueue tx,
      @Nullable DynamicConnection dynamic,
      int mostBetweenAcks) {
    this.queuePair = queuePair;
    this.dynamic = dynamic;
    this.hca = hca;
    this.pool = hca.packets();
    this.port = hca.port();
    this.tx = tx;
    this.buffer = hca.pipeline().transmits();
    this.turn = new SharedBuffer.Turn(queuePair::activateFromOutside);
    this.mtu = queuePair.mtu();
    this.ackInterval =
        Math.clamp(
            hca.wire().window(mtu) / ACKS_PER_WINDOW, 1, Math.min(ACK_INTERVAL, mostBetweenAcks));
    this.transport =
        switch (queuePair.transport) {
          case RC, DC -> BthOpcode.RC;
          case UC -> BthOpcode.UC;
          case UD -> BthOpcode.UD;
        };
  }

  /**
   * Makes packets until the request has none left, the pool is empty, the HCA's transmit buffer is
   * another queue pair's for a while, the request has failed, or the peer's window is full, which
   * an acknowledgement ends.
   *
   * @param requestNumber of the request in its ring
   * @param room packets that the window has room for
   * @param most packets that may be made now
   * @return true when all are made
   */
  boolean make(SendRequest request, long requestNumber, int room, int most) {
    if (room <= 0) {
      return false;
    }
    queuePair.requests.serves(request.index);
    if (request.hasResponse()) {
      return requestResponses(request, requestNumber, room);
    }
    int packets = request.packets;
    int fullAt = (int) Math.min(packets, (long) request.sent + room);
    int end = (int) Math.min(fullAt, (long) request.sent + most);
    while (request.sent < end) {
      Packet packet = pool.take();
      if (packet == null) {
        return false;
      }
      if (!buffer.take(turn, packet, payloadBytes(request, request.sent))) {
        pool.release(packet);
        return false;
      }
      packet.request = requestNumber;
      if (!fill(request, packet, request.sent, request.sent == fullAt - 1)) {
        pool.release(packet);
        return false;
      }
      lastFrameBytes = packet.frameBytes();
      lastAsksForAck = packet.ackRequest;
      request.sent++;
      if (request.sent == packets) {
        request.phase = SendRequest.Phase.WAITING;
      }
      tx.add(packet);
    }
    return end == packets;
  }

  /**
   * Makes the request packets of an atomic, or of as many strides of a READ as the window admits.
   */
  private boolean requestResponses(SendRequest request, long requestNumber, int room) {
    int free = room;
    while (request.sent < request.packets) {
      // A READ that was answered in part asks for the rest.
      int from = Math.max(request.sent, (int) (request.received / mtu));
      int end = (int) Math.min(request.packets, (from / request.stride + 1L) * request.stride);
      free -= end - request.sent;
      Packet packet = free < 0 ? null : pool.take();
      if (packet == null) {
        return false;
      }
      packet.request = requestNumber;
      responseRequest(request, packet, from, end);
      request.sent = end;
      if (end == request.packets) {
        request.phase = SendRequest.Phase.WAITING;
      }
      tx.add(packet);
    }
    return true;
  }

  /** True while packets wait for room in the HCA's transmit buffer. */
  boolean waitsForRoom() {
    return turn.waits();
  }

  /** Nothing more is sent for now: what is left of a turn is others'. */
  void endTurn() {
    buffer.end(turn);
  }

  /** Nothing is sent any more. */
  void discard() {
    buffer.cancel(turn);
  }

  private void address(SendRequest request, Packet packet, int number, boolean last) {
    packet.destination = queuePair.peerNumber();
    packet.psn = Psn.add(request.firstPsn, number);
    packet.lastOfMessage = last;
    packet.originQpn = queuePair.number;
    packet.originIndex = (int) request.index & SendQueue.INDEX_MASK;
    if (dynamic != null) {
      addressVector(request, packet);
      dynamic.stamp(packet);
    }
  }

  /** An atomic, or a request of a READ for its packets from {@code from} to {@code end}. */
  private void responseRequest(SendRequest request, Packet packet, int from, int end) {
    long offset = (long) from * mtu;
    address(request, packet, from, end == request.packets);
    packet.remoteAddress = request.remoteAddress + offset;
    packet.rkey = request.rkey;
    packet.dmaLength = (int) (Math.min(request.length, (long) end * mtu) - offset);
    packet.ackRequest = true;
    packet.payload = 0;
    packet.bytes = 0;
    packet.swapAdd = request.swapAdd;
    packet.compare = request.compare;
    packet.swapMask = request.swapMask;
    packet.compareMask = request.compareMask;
    packet.cellBytes = request.cellBytes;
    packet.opcode = responseRequest(request.opcode);
  }

  /** The packet's opcode of a READ or an atomic. */
  static int responseRequest(int opcode) {
    return switch (opcode) {
      case Opcode.RDMA_READ -> BthOpcode.READ_REQUEST;
      case Opcode.ATOMIC_CS -> BthOpcode.COMPARE_SWAP;
      case Opcode.ATOMIC_FA -> BthOpcode.FETCH_ADD;
      case Opcode.ATOMIC_MASKED_CS -> PacketOpcode.MASKED_COMPARE_SWAP;
      default -> PacketOpcode.MASKED_FETCH_ADD;
    };
  }

  /** Headers and payload of packet {@code number} of a WRITE or SEND. */
  private boolean fill(SendRequest request, Packet packet, int number, boolean fillsWindow) {
    boolean first = number == 0;
    boolean last = number == request.packets - 1;
    address(request, packet, number, last);
    packet.ackRequest =
        transport == BthOpcode.RC
            && (last || fillsWindow || number % ackInterval == ackInterval - 1);
    int opcode = request.opcode;
    boolean write = opcode == Opcode.RDMA_WRITE || opcode == Opcode.RDMA_WRITE_IMM;
    packet.opcode =
        transport + (write ? BthOpcode.WRITE_FIRST : BthOpcode.SEND_FIRST) + position(first, last);
    if (last) {
      packet.solicited = ControlSegment.isSolicited(request.fmCeSe);
      if (Opcode.hasImmediate(opcode)) {
        packet.opcode++;
        packet.immediate = request.immediate;
      } else if (opcode == Opcode.SEND_INVAL) {
        packet.opcode = first ? BthOpcode.SEND_ONLY_INVALIDATE : BthOpcode.SEND_LAST_INVALIDATE;
        packet.invalidatedKey = request.immediate;
      }
    }
    if (transport == BthOpcode.UD) {
      datagram(request, packet);
    }
    if (first) {
      packet.remoteAddress = request.remoteAddress;
      packet.rkey = request.rkey;
      packet.dmaLength = (int) request.length;
    }
    packet.bytes = payloadBytes(request, number);
    return gather(request, packet);
  }

  private int payloadBytes(SendRequest request, int number) {
    return (int) Math.min(mtu, request.length - (long) number * mtu);
  }

  private void datagram(SendRequest request, Packet packet) {
    packet.destination = request.destination;
    packet.queueKey = request.queueKey;
    addressVector(request, packet);
    packet.datagramRoute = request.route;
  }

  /** Fills in the global route of a request, and the queue pair that it comes from. */
  private void addressVector(SendRequest request, Packet packet) {
    packet.sourceQueuePair = queuePair.number;
    packet.trafficClass = request.trafficClass;
    packet.hopLimit = request.hopLimit;
    packet.flowLabel = request.flowLabel;
    Gid source = hca.sourceGid(request.gidIndex);
    packet.sourceGidHigh = source.high();
    packet.sourceGidLow = source.low();
    packet.destinationGidHigh = request.gidHigh;
    packet.destinationGidLow = request.gidLow;
  }

  /** Offset of FIRST, MIDDLE, LAST and ONLY in the groups of SEND and WRITE opcodes. */
  private static int position(boolean first, boolean last) {
    if (first) {
      return last ? BthOpcode.WRITE_ONLY - BthOpcode.WRITE_FIRST : 0;
    }
    return last ? 2 : 1;
  }

  /** Finds or starts to read the payload of a packet at the request's piece cursor. */
  private boolean gather(SendRequest request, Packet packet) {
    int left = packet.bytes;
    if (left == 0) {
      packet.payload = 0;
      return true;
    }
    try {
      int piece = request.piece;
      int offset = request.pieceOffset;
      int inPiece = request.pieceBytes[piece] - offset;
      // A packet has a copy of what may end before it is received: a queue, a program's memory.
      if (left <= inPiece && !request.isInline(piece) && !port.isImmediate()) {
        long inPlace = port.map(request.pieceAddress[piece] + offset, left);
        if (inPlace != 0) {
          packet.payload = inPlace;
          request.advance(left);
          return true;
        }
      }
      gatherPieces(request, packet);
      return true;
    } catch (AccessFault gone) {
      request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
      return false;
    }
  }

  private void gatherPieces(SendRequest request, Packet packet) {
    long target = packet.buffer();
    packet.payload = target;
    int left = packet.bytes;
    packet.beginReads();
    while (left > 0) {
      int piece = request.piece;
      int take = Math.min(left, request.pieceBytes[piece] - request.pieceOffset);
      long address = request.pieceAddress[piece] + request.pieceOffset;
      if (request.isInline(piece)) {
        RawMemory.copy(address, target, take);
      } else if (!port.read(address, target, take, packet)) {
        packet.addRead();
      }
      target += take;
      left -= take;
      request.advance(take);
    }
    packet.endReads();
  }

  /**
   * The connection of an initiator to the target of its present requests. There is one at a time: a
   * request for another target waits until those before it are complete, and then connects.
   * Sequence numbers go on, so that responses of an earlier target fit nothing.
   */
  static final class DynamicConnection {
    private final QueuePairContext queuePair;
    private final HcaServices hca;

    private int target;
    private long accessKey;
    private long gidHigh;
    private long gidLow;
    private @Nullable Route route;
    private int firstPsn;

    /** 0 before the first one. */
    private long connection;

    DynamicConnection(QueuePairContext queuePair, HcaServices hca) {
      this.queuePair = queuePair;
      this.hca = hca;
    }

    /** True where the connection is to the request's target. */
    boolean leadsTo(SendRequest request) {
      return connection != 0
          && target == request.destination
          && accessKey == request.accessKey
          && gidHigh == request.gidHigh
          && gidLow == request.gidLow;
    }

    /**
     * Connects to the request's target. Nothing is sent for it: the requests that follow do it.
     *
     * @param psn of the next packet
     */
    void connect(SendRequest request, int psn) {
      target = request.destination;
      accessKey = request.accessKey;
      gidHigh = request.gidHigh;
      gidLow = request.gidLow;
      route = request.route;
      firstPsn = psn;
      connection = hca.nextConnection();
      queuePair.reach(route, target);
    }

    /** Fills in what packets of requests carry of their connection. */
    void stamp(Packet packet) {
      packet.dynamic = true;
      packet.datagramRoute = route;
      packet.accessKey = accessKey;
      packet.mtu = queuePair.mtu();
      packet.firstPsn = firstPsn;
      packet.connection = connection;
    }
  }
}
