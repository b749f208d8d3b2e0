package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a queue pair: takes WQEs in order, turns them into packets, hears the peer's
 * answers, completes in order.
 *
 * <p>Requests live in a ring with three cursors: {@code oldest} (its CQE is next), {@code sending}
 * (its packets are next), {@code newest} (one past the last WQE looked at). Under a fabric with
 * virtual time the WQEs between the last two overlap.
 */
final class Requester {
  /** Unacknowledged packets at most: comparisons of sequence numbers stay unambiguous. */
  private static final int PSN_WINDOW = 1 << 22;

  private static final int DUMP_READS = 64;
  private static final int RNR_WITHOUT_END = 7;

  /** Every so many packets inside a message an ACK is asked for. */
  private static final int ACK_INTERVAL = 256;

  private final SoftQueuePair queuePair;
  private final SoftHca hca;
  private final DevicePort port;
  private final WqeSource wqes;
  private final TxQueue tx;
  private final SoftCompletionQueue completionQueue;
  private final int mtu;
  private final int pipelineDepth;
  private final int limit;
  private final long wqeNanos;

  private SendRequest[] requests;
  private long oldest;
  private long sending;
  private long newest;

  /** The index of the next WQE to look at. */
  private long wqeIndex;

  private int nextPsn;
  private int unacknowledgedPsn;

  /** READs and atomics whose answers are missing, and the request of the oldest of them. */
  private int outstandingReads;

  private long answering;
  private int rnrRetries;
  private boolean rnrWaiting;
  private final Completion rnrTimer = this::rnrOver;
  private boolean errorReported;
  private boolean dead;

  /** Reads of a DUMP that are on their way. */
  private int dumpReads;

  private final Completion dumpCompletion = this::dumpRead;
  private int sequenceRetries;

  Requester(SoftQueuePair queuePair, WqeSource wqes, int startPsn, int mtu) {
    this.queuePair = queuePair;
    this.hca = queuePair.hca;
    this.port = hca.port;
    this.wqes = wqes;
    this.mtu = mtu;
    this.completionQueue = queuePair.sendCompletions;
    this.tx = new TxQueue(queuePair, port, hca.timing.packetNanos());
    this.pipelineDepth = hca.options.pipelineDepth();
    this.wqeNanos = hca.timing.wqeNanos();
    this.limit = queuePair.attributes().sendBlocks();
    this.requests = new SendRequest[Math.min(limit, 8)];
    for (int i = 0; i < requests.length; i++) {
      requests[i] = new SendRequest(this);
    }
    nextPsn = startPsn;
    unacknowledgedPsn = startPsn;
    rnrRetries = queuePair.connection.rnrRetry();
    sequenceRetries = queuePair.connection.retryCount();
  }

  /** What was under way is forgotten: the queue pair was reset or closed. */
  void discard() {
    dead = true;
    tx.drop();
  }

  /** A request has something to do again. */
  void ready() {
    if (!dead) {
      queuePair.activate();
    }
  }

  /**
   * Moves on what can move on.
   *
   * @return work done, about in WQEs
   */
  int run(int budget) {
    wqes.run();
    if (wqes.failed() && queuePair.state() != QueuePairState.ERR) {
      hca.raise(AsyncEvent.Type.QP_FATAL, queuePair.number());
      queuePair.enterError();
    }
    Packet refused = tx.flush();
    if (refused != null && refused.request != null) {
      refused.request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PATH_REFUSED);
      tx.drop();
    }
    int work = 0;
    int looked;
    do {
      looked = look(budget - work);
      work += looked + send(budget);
      work += complete();
    } while (looked > 0 && work < budget);
    if (work >= budget) {
      queuePair.activate();
    }
    return work;
  }

  private SendRequest at(long number) {
    SendRequest[] ring = requests;
    return ring[(int) number & (ring.length - 1)];
  }

  /** Takes WQEs that are at hand into the pipeline. */
  private int look(int budget) {
    int looked = 0;
    boolean flushing = queuePair.state() == QueuePairState.ERR;
    if (!flushing && queuePair.state() != QueuePairState.RTS) {
      return 0;
    }
    long available = flushing && wqes.failed() ? wqeIndex : wqes.available();
    while (wqeIndex < available
        && looked < budget
        && newest - oldest < limit
        && newest - sending < pipelineDepth) {
      if (newest - oldest == requests.length) {
        grow();
      }
      long segment = wqes.unit(wqeIndex, 0);
      SendRequest request = at(newest);
      request.index = wqeIndex;
      request.ds = ControlSegment.ds(segment);
      request.blocks = Math.max(1, SendQueue.blocks(request.ds));
      request.packets = 0;
      request.sent = 0;
      request.piece = 0;
      request.pieceOffset = 0;
      request.received = 0;
      request.vendorSyndrome = VendorSyndrome.NONE;
      WqeDecoder.control(request, segment);
      int mismatch = headerMismatch(request, segment);
      if (flushing) {
        if (mismatch != VendorSyndrome.NONE) {
          // Not the beginning of a WQE: a block of one whose length nobody knows.
          wqeIndex++;
          wqes.retire(wqeIndex);
          continue;
        }
        request.phase = SendRequest.Phase.FLUSHED;
      } else if (mismatch != VendorSyndrome.NONE) {
        request.fail(Syndrome.LOCAL_QP_OPERATION, mismatch);
      } else if (wqeIndex + request.blocks > available) {
        if (wqeIndex + request.blocks <= wqes.producer()) {
          return looked;
        }
        request.blocks = 1;
        request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
      } else {
        request.phase = SendRequest.Phase.PARSING;
        if (hca.tracing) {
          queuePair.traceFetched(request);
        }
        if (wqeNanos == 0 || port.delay(wqeNanos, request)) {
          request.phase = SendRequest.Phase.PARSED;
        }
      }
      wqeIndex += request.blocks;
      newest++;
      looked++;
    }
    return looked;
  }

  private int headerMismatch(SendRequest request, long segment) {
    if (request.ds == 0) {
      return VendorSyndrome.BAD_LENGTH_FIELD;
    }
    if (ControlSegment.wqeIndex(segment) != ((int) wqeIndex & SendQueue.INDEX_MASK)) {
      return VendorSyndrome.INDEX_MISMATCH;
    }
    return ControlSegment.qpn(segment) == queuePair.number()
        ? VendorSyndrome.NONE
        : VendorSyndrome.NUMBER_MISMATCH;
  }

  /** Doubles the ring, all of whose requests are live. */
  private void grow() {
    SendRequest[] old = requests;
    SendRequest[] larger = new SendRequest[old.length * 2];
    for (long number = oldest; number < newest; number++) {
      larger[(int) number & (larger.length - 1)] = old[(int) number & (old.length - 1)];
    }
    for (long number = newest; number < oldest + larger.length; number++) {
      larger[(int) number & (larger.length - 1)] = new SendRequest(this);
    }
    requests = larger;
  }

  /** Makes packets of requests in order, as far as fences, the peer and the packet pool allow. */
  private int send(int budget) {
    int made = 0;
    while (sending < newest && made < budget && !rnrWaiting) {
      SendRequest request = at(sending);
      switch (request.phase) {
        case PARSED -> {
          if (!start(request)) {
            return made;
          }
        }
        case SENDING -> {}
        case DONE, FLUSHED -> {
          sending++;
          continue;
        }
        default -> {
          return made;
        }
      }
      if (request.phase == SendRequest.Phase.SENDING) {
        int before = request.sent;
        boolean all = makePackets(request);
        made += request.sent - before;
        if (!all) {
          return made;
        }
      }
      sending++;
      made++;
    }
    return made;
  }

  /**
   * Begins a request whose turn has come.
   *
   * @return false when it has to wait or has failed
   */
  private boolean start(SendRequest request) {
    int fence = ControlSegment.fence(request.fmCeSe);
    if (fence == ControlSegment.FENCE_STRONG_ORDERING ? oldest != sending : fence != 0 && outstandingReads > 0) {
      return false;
    }
    WqeDecoder.decode(request, wqes, queuePair);
    if (request.phase == SendRequest.Phase.FAILED) {
      return false;
    }
    int opcode = request.opcode;
    switch (opcode) {
      case Opcode.NOP -> {
        request.phase = SendRequest.Phase.DONE;
        return true;
      }
      case Opcode.WAIT -> {
        return startWait(request);
      }
      case Opcode.DUMP -> {
        return startDump(request);
      }
      case Opcode.RDMA_READ ->
          request.packets = Psn.packets(request.length, mtu);
      case Opcode.ATOMIC_CS, Opcode.ATOMIC_FA, Opcode.ATOMIC_MASKED_CS, Opcode.ATOMIC_MASKED_FA ->
          request.packets = 1;
      default -> request.packets = Psn.packets(request.length, mtu);
    }
    boolean answered = isAnswered(opcode);
    if (answered && outstandingReads >= queuePair.maxReadAtomic
        || Psn.difference(nextPsn, unacknowledgedPsn) + request.packets > PSN_WINDOW) {
      return false;
    }
    request.firstPsn = nextPsn;
    request.phase = SendRequest.Phase.SENDING;
    nextPsn = Psn.add(nextPsn, request.packets);
    if (answered && outstandingReads++ == 0) {
      answering = sending;
    }
    return true;
  }

  private static boolean isAnswered(int opcode) {
    return opcode == Opcode.RDMA_READ || Opcode.isAtomic(opcode);
  }

  private boolean startWait(SendRequest request) {
    SoftCompletionQueue awaited = hca.completionQueues.find(request.rkey);
    if (awaited == null) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.UNKNOWN_QUEUE);
      return false;
    }
    if (!awaited.reached((int) request.swapAdd)) {
      awaited.await(queuePair);
      return false;
    }
    request.phase = SendRequest.Phase.DONE;
    return true;
  }

  /** DUMP flushes what earlier requests of the queue wrote, so it waits for them. */
  private boolean startDump(SendRequest request) {
    if (oldest != sending) {
      return false;
    }
    request.phase = SendRequest.Phase.SENDING;
    return true;
  }

  /** Reads local memory and drops it. */
  private boolean dump(SendRequest request) {
    try {
      while (request.piece < request.pieces) {
        if (dumpReads >= DUMP_READS) {
          return false;
        }
        long address = request.pieceAddress[request.piece] + request.pieceOffset;
        int left = request.pieceBytes[request.piece] - request.pieceOffset;
        int bytes = Math.min(left, Packet.MAX_PAYLOAD);
        if (port.map(address, bytes) == 0
            && !port.read(address, hca.dropBuffer, bytes, dumpCompletion)) {
          dumpReads++;
        }
        advance(request, bytes);
      }
    } catch (AccessFault gone) {
      request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
      return false;
    }
    request.phase = SendRequest.Phase.WAITING;
    return true;
  }

  private void dumpRead(boolean ok) {
    dumpReads--;
    if (!ok && oldest < newest) {
      at(oldest).fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PATH_REFUSED);
    }
    ready();
  }

  private static void advance(SendRequest request, int bytes) {
    request.pieceOffset += bytes;
    if (request.pieceOffset == request.pieceBytes[request.piece]) {
      request.piece++;
      request.pieceOffset = 0;
    }
  }

  /** Makes packets until the request has none left or the pool is empty. */
  private boolean makePackets(SendRequest request) {
    int opcode = request.opcode;
    if (opcode == Opcode.DUMP) {
      return dump(request);
    }
    if (isAnswered(opcode)) {
      Packet packet = hca.packets.take();
      if (packet == null) {
        return false;
      }
      question(request, packet);
      request.sent = request.packets;
      request.phase = SendRequest.Phase.WAITING;
      tx.add(packet);
      return true;
    }
    int packets = request.packets;
    while (request.sent < packets) {
      Packet packet = hca.packets.take();
      if (packet == null) {
        return false;
      }
      if (!fill(request, packet, request.sent)) {
        hca.packets.release(packet);
        return false;
      }
      request.sent++;
      if (request.sent == packets) {
        request.phase = SendRequest.Phase.WAITING;
      }
      tx.add(packet);
    }
    return true;
  }

  private void address(SendRequest request, Packet packet, int number, boolean last) {
    packet.destination = queuePair.peerNumber;
    packet.psn = Psn.add(request.firstPsn, number);
    packet.lastOfMessage = last;
    packet.request = request;
    packet.originQpn = queuePair.number();
    packet.originIndex = (int) request.index & SendQueue.INDEX_MASK;
  }

  /** A READ request or an atomic. */
  private void question(SendRequest request, Packet packet) {
    address(request, packet, 0, true);
    packet.remoteAddress = request.remoteAddress;
    packet.rkey = request.rkey;
    packet.dmaLength = (int) request.length;
    packet.ackRequest = true;
    packet.payload = 0;
    packet.bytes = 0;
    packet.swapAdd = request.swapAdd;
    packet.compare = request.compare;
    packet.swapMask = request.swapMask;
    packet.compareMask = request.compareMask;
    packet.cellBytes = request.cellBytes;
    packet.opcode =
        switch (request.opcode) {
          case Opcode.RDMA_READ -> PacketOpcode.READ_REQUEST;
          case Opcode.ATOMIC_CS -> PacketOpcode.COMPARE_SWAP;
          case Opcode.ATOMIC_FA -> PacketOpcode.FETCH_ADD;
          case Opcode.ATOMIC_MASKED_CS -> PacketOpcode.MASKED_COMPARE_SWAP;
          default -> PacketOpcode.MASKED_FETCH_ADD;
        };
  }

  /** Headers and payload of packet {@code number} of a WRITE or SEND. */
  private boolean fill(SendRequest request, Packet packet, int number) {
    boolean first = number == 0;
    boolean last = number == request.packets - 1;
    address(request, packet, number, last);
    packet.ackRequest = last || (packet.psn & (ACK_INTERVAL - 1)) == 0;
    int opcode = request.opcode;
    boolean write = opcode == Opcode.RDMA_WRITE || opcode == Opcode.RDMA_WRITE_IMM;
    packet.opcode =
        (write ? PacketOpcode.WRITE_FIRST : PacketOpcode.SEND_FIRST) + position(first, last, write);
    if (last) {
      packet.solicited = ControlSegment.isSolicited(request.fmCeSe);
      if (Opcode.hasImmediate(opcode)) {
        packet.opcode++;
        packet.immediate = request.immediate;
      }
    }
    if (first) {
      packet.remoteAddress = request.remoteAddress;
      packet.rkey = request.rkey;
      packet.dmaLength = (int) request.length;
    }
    packet.bytes = (int) Math.min(mtu, request.length - (long) number * mtu);
    return gather(request, packet);
  }

  /** Offset of FIRST, MIDDLE, LAST and ONLY in the groups of SEND and WRITE opcodes. */
  private static int position(boolean first, boolean last, boolean write) {
    if (first) {
      return last ? PacketOpcode.WRITE_ONLY - PacketOpcode.WRITE_FIRST : 0;
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
      if (left <= inPiece) {
        long address = request.pieceAddress[piece] + offset;
        long inPlace = request.inline ? address : port.map(address, left);
        if (inPlace != 0) {
          packet.payload = inPlace;
          advance(request, left);
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
      if (request.inline) {
        RawMemory.copy(address, target, take);
      } else if (!port.read(address, target, take, packet)) {
        packet.addRead();
      }
      target += take;
      left -= take;
      advance(request, take);
    }
    packet.endReads();
  }

  // Answers.

  /** A response to this queue pair's requests. The packet is given back by the caller. */
  void receive(Packet packet) {
    if (queuePair.state() != QueuePairState.RTS
        || Psn.difference(packet.psn, nextPsn) >= 0
        || Psn.difference(packet.psn, unacknowledgedPsn) < 0 && packet.opcode != PacketOpcode.ACKNOWLEDGE) {
      return;
    }
    switch (packet.opcode) {
      case PacketOpcode.ACKNOWLEDGE -> {
        int syndrome = packet.syndrome;
        if (Aeth.isAck(syndrome)) {
          acknowledge(packet.psn);
        } else if (Aeth.isRnr(syndrome)) {
          notReady(packet);
        } else {
          refused(packet);
        }
      }
      case PacketOpcode.ATOMIC_ACKNOWLEDGE -> atomicAnswer(packet);
      default -> readAnswer(packet);
    }
    ready();
  }

  private void acknowledge(int psn) {
    if (Psn.difference(psn, unacknowledgedPsn) >= 0) {
      unacknowledgedPsn = Psn.add(psn, 1);
      rnrRetries = queuePair.connection.rnrRetry();
      sequenceRetries = queuePair.connection.retryCount();
    }
  }

  private @Nullable SendRequest answered() {
    return outstandingReads == 0 ? null : at(answering);
  }

  private void atomicAnswer(Packet packet) {
    SendRequest request = answered();
    if (request == null || !Opcode.isAtomic(request.opcode) || request.firstPsn != packet.psn) {
      return;
    }
    acknowledge(packet.psn);
    long scratch = hca.scratch;
    if (request.cellBytes == Long.BYTES) {
      RawMemory.putLong(scratch, packet.atomicResult);
    } else {
      // mlx5 returns 4-byte results in the wire's byte order.
      BigEndian.putInt(scratch, (int) packet.atomicResult);
    }
    scatter(request, scratch, request.cellBytes);
    finishAnswered(request);
  }

  private void readAnswer(Packet packet) {
    SendRequest request = answered();
    if (request == null
        || request.opcode != Opcode.RDMA_READ
        || packet.psn != Psn.add(request.firstPsn, (int) (request.received / mtu))) {
      return;
    }
    acknowledge(packet.psn);
    boolean last = packet.psn == request.lastPsn();
    long expected = Math.min(mtu, request.length - request.received);
    if (packet.bytes != expected) {
      request.fail(Syndrome.BAD_RESPONSE, VendorSyndrome.NONE);
      return;
    }
    scatter(request, packet.payload, packet.bytes);
    request.received += packet.bytes;
    if (last) {
      finishAnswered(request);
    }
  }

  /** Writes what a peer sent to local memory, at the request's cursor. */
  private void scatter(SendRequest request, long source, int bytes) {
    try {
      int left = bytes;
      long from = source;
      while (left > 0) {
        int piece = request.piece;
        int take = Math.min(left, request.pieceBytes[piece] - request.pieceOffset);
        port.write(
            from, request.pieceAddress[piece] + request.pieceOffset, take, request.relaxed);
        from += take;
        left -= take;
        advance(request, take);
      }
    } catch (AccessFault gone) {
      request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
    }
  }

  private void finishAnswered(SendRequest request) {
    if (request.phase != SendRequest.Phase.FAILED) {
      request.phase = SendRequest.Phase.DONE;
    }
    if (--outstandingReads > 0) {
      do {
        answering++;
      } while (!isAnswered(at(answering).opcode));
    }
  }

  private void notReady(Packet packet) {
    SendRequest request = holding(packet.psn);
    if (request == null) {
      return;
    }
    unacknowledgedPsn = packet.psn;
    if (rnrRetries == 0) {
      request.fail(Syndrome.RNR_RETRY_EXCEEDED, VendorSyndrome.NONE);
      return;
    }
    if (rnrRetries != RNR_WITHOUT_END) {
      rnrRetries--;
    }
    rewind(packet.psn);
    rnrWaiting = true;
    port.timer(Aeth.rnrNanos(packet.syndrome), rnrTimer);
  }

  private void rnrOver(boolean ok) {
    rnrWaiting = false;
    ready();
  }

  private void refused(Packet packet) {
    SendRequest request = holding(packet.psn);
    if (request == null) {
      return;
    }
    unacknowledgedPsn = packet.psn;
    switch (packet.syndrome) {
      case Aeth.NAK_SEQUENCE -> {
        if (sequenceRetries-- == 0) {
          request.fail(Syndrome.TRANSPORT_RETRY_EXCEEDED, VendorSyndrome.NONE);
        } else {
          rewind(packet.psn);
        }
      }
      case Aeth.NAK_INVALID_REQUEST ->
          request.fail(Syndrome.REMOTE_INVALID_REQUEST, VendorSyndrome.NONE);
      case Aeth.NAK_REMOTE_ACCESS -> request.fail(Syndrome.REMOTE_ACCESS, VendorSyndrome.NONE);
      default -> request.fail(Syndrome.REMOTE_OPERATION, VendorSyndrome.NONE);
    }
  }

  /** The request that has a packet with this number, or null. */
  private @Nullable SendRequest holding(int psn) {
    for (long number = oldest; number < newest; number++) {
      SendRequest request = at(number);
      int offset = Psn.difference(psn, request.firstPsn);
      if (request.packets > 0 && offset >= 0 && offset < request.packets) {
        return request;
      }
    }
    return null;
  }

  /** Goes back to packet {@code psn}: everything from there on is sent again. */
  private void rewind(int psn) {
    tx.drop();
    long resume = sending;
    for (long number = Math.min(sending, newest - 1); number >= oldest; number--) {
      SendRequest request = at(number);
      boolean sent =
          request.packets > 0
              && (request.phase == SendRequest.Phase.WAITING
                  || request.phase == SendRequest.Phase.SENDING);
      if (!sent) {
        continue;
      }
      int offset = Psn.difference(psn, request.firstPsn);
      if (offset >= request.packets) {
        break;
      }
      request.phase = SendRequest.Phase.SENDING;
      seek(request, Math.max(0, offset));
      resume = number;
    }
    sending = resume;
  }

  private void seek(SendRequest request, int packet) {
    request.sent = packet;
    request.piece = 0;
    request.pieceOffset = 0;
    if (isAnswered(request.opcode)) {
      return;
    }
    long skip = (long) packet * mtu;
    while (skip > 0) {
      int take = (int) Math.min(skip, request.pieceBytes[request.piece]);
      advance(request, take);
      skip -= take;
    }
  }

  // Completions.

  /** Completes requests in order. */
  private int complete() {
    int done = 0;
    while (oldest < newest) {
      SendRequest request = at(oldest);
      boolean failing = queuePair.state() == QueuePairState.ERR;
      boolean success =
          switch (request.phase) {
            case DONE -> true;
            case WAITING -> isAcknowledged(request);
            default -> false;
          };
      boolean failed = request.phase == SendRequest.Phase.FAILED;
      if (!success && !failed && !failing) {
        return done;
      }
      int syndrome = success ? 0 : failed ? request.syndrome : Syndrome.FLUSHED;
      if (isReported(request, success)) {
        int room = completionQueue.room(queuePair);
        if (room == SoftCompletionQueue.WAIT) {
          return done;
        }
        if (room == SoftCompletionQueue.OVERRUN) {
          queuePair.enterError();
        } else if (success) {
          completionQueue.requester(
              queuePair.number(), request.opcode, (int) request.index, (int) request.length);
        } else {
          completionQueue.error(
              Cqe.REQUESTER_ERROR,
              syndrome,
              failed ? request.vendorSyndrome : VendorSyndrome.NONE,
              request.opcode,
              queuePair.number(),
              (int) request.index);
        }
      }
      oldest++;
      done++;
      wqes.retire(request.index + request.blocks);
      if (sending < oldest) {
        sending = oldest;
      }
      if (failed) {
        errorReported = true;
        queuePair.enterError();
      }
    }
    return done;
  }

  private boolean isAcknowledged(SendRequest request) {
    if (request.opcode == Opcode.DUMP) {
      return dumpReads == 0;
    }
    return !isAnswered(request.opcode)
        && Psn.difference(request.lastPsn(), unacknowledgedPsn) < 0;
  }

  private boolean isReported(SendRequest request, boolean success) {
    if (success) {
      return ControlSegment.isSignalled(request.fmCeSe);
    }
    return !errorReported
        || ControlSegment.completionMode(request.fmCeSe) != ControlSegment.COMPLETE_ON_FIRST_ERROR;
  }

  /** The queue pair is in error: nothing more is sent, everything that waits is flushed. */
  void enterError() {
    tx.drop();
    outstandingReads = 0;
    ready();
  }

  /** Requests that are not complete, for messages. */
  long outstanding() {
    return newest - oldest;
  }
}
