package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Syndrome;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a queue pair: checks the peer's requests, carries them out in order,
 * answers.
 *
 * <p>A request is carried out when everything that it needs is at hand - a receive WQE, room for a
 * CQE, a packet for the answer - and waits without side effects until then; later ones wait behind
 * it. An ACK leaves at the end of a step and stands for all messages of the step.
 */
final class Responder {
  private final SoftQueuePair queuePair;
  private final SoftHca hca;
  private final DevicePort port;
  private final Receives receives;
  private final TxQueue tx;
  private final int mtu;

  private int expectedPsn;
  private int msn;
  private boolean nakSent;
  private boolean established;

  /** Requests that arrived and wait. */
  private @Nullable Packet waitingHead;

  private @Nullable Packet waitingTail;

  /** The answer of an atomic that is being carried out. */
  private @Nullable Packet atomicAnswer;

  private boolean ackPending;
  private int ackPsn;

  // The message that is arriving.
  private Message message = Message.NONE;
  private long writeAddress;
  private long messageBytes;
  private long receivedBytes;
  private @Nullable SoftMemoryRegion region;

  private enum Message {
    NONE,
    WRITE,
    SEND
  }

  Responder(SoftQueuePair queuePair, Receives receives, int expectedPsn, int mtu) {
    this.queuePair = queuePair;
    this.hca = queuePair.hca;
    this.port = hca.port;
    this.receives = receives;
    this.expectedPsn = expectedPsn;
    this.mtu = mtu;
    this.tx = new TxQueue(queuePair, port, 0);
  }

  /** What was under way is forgotten: the queue pair was reset or closed. */
  void discard() {
    tx.drop();
    Packet atomic = atomicAnswer;
    if (atomic != null && atomic.abandon()) {
      atomic.pool.release(atomic);
    }
    atomicAnswer = null;
    Packet packet = waitingHead;
    waitingHead = null;
    waitingTail = null;
    while (packet != null) {
      Packet next = packet.next;
      packet.next = null;
      packet.pool.release(packet);
      packet = next;
    }
  }

  /** A request of the peer; the responder gives the packet back. */
  void receive(Packet packet) {
    if (waitingHead == null && process(packet)) {
      packet.pool.release(packet);
      return;
    }
    Packet last = waitingTail;
    if (last == null) {
      waitingHead = packet;
    } else {
      last.next = packet;
    }
    waitingTail = packet;
  }

  /** Moves on what can move on. */
  int run() {
    Packet answer = atomicAnswer;
    if (answer != null && answer.phase != Packet.Phase.READING) {
      atomicAnswer = null;
      finishAtomic(answer);
    }
    int work = 0;
    Packet packet = waitingHead;
    while (packet != null && process(packet)) {
      Packet next = packet.next;
      packet.next = null;
      waitingHead = next;
      if (next == null) {
        waitingTail = null;
      }
      packet.pool.release(packet);
      packet = next;
      work++;
    }
    Packet refused = tx.flush();
    if (refused != null) {
      tx.drop();
      nak(Aeth.NAK_REMOTE_OPERATION, refused.psn, AsyncEvent.Type.QP_FATAL);
    }
    acknowledge();
    if (queuePair.state() == QueuePairState.ERR) {
      work += receives.flush();
    }
    return work;
  }

  /** Sends the ACK that is due, if a packet is to be had and no answer is before it. */
  void acknowledge() {
    if (!ackPending) {
      return;
    }
    Packet ack = hca.packets.take();
    if (ack == null) {
      return;
    }
    ackPending = false;
    answer(ack, PacketOpcode.ACKNOWLEDGE, ackPsn);
    ack.syndrome = Aeth.ACK;
    tx.add(ack);
  }

  private void answer(Packet packet, int opcode, int psn) {
    packet.opcode = opcode;
    packet.destination = queuePair.peerNumber;
    packet.psn = psn;
    packet.msn = msn;
    packet.syndrome = Aeth.ACK;
    packet.payload = 0;
    packet.bytes = 0;
  }

  /**
   * Carries a request out.
   *
   * @return false when something that it needs is missing; nothing has happened then
   */
  private boolean process(Packet packet) {
    QueuePairState state = queuePair.state();
    if (state != QueuePairState.RTS && state != QueuePairState.RTR) {
      return true;
    }
    if (state == QueuePairState.RTR && !established) {
      established = true;
      hca.raise(AsyncEvent.Type.COMMUNICATION_ESTABLISHED, queuePair.number());
    }
    if (atomicAnswer != null) {
      return false;
    }
    int ahead = Psn.difference(packet.psn, expectedPsn);
    if (ahead != 0) {
      return outOfSequence(ahead);
    }
    int opcode = packet.opcode;
    return switch (opcode) {
      case PacketOpcode.WRITE_ONLY,
          PacketOpcode.WRITE_FIRST,
          PacketOpcode.WRITE_ONLY_IMM,
          PacketOpcode.WRITE_MIDDLE,
          PacketOpcode.WRITE_LAST,
          PacketOpcode.WRITE_LAST_IMM ->
          write(packet);
      case PacketOpcode.SEND_ONLY,
          PacketOpcode.SEND_FIRST,
          PacketOpcode.SEND_MIDDLE,
          PacketOpcode.SEND_LAST,
          PacketOpcode.SEND_LAST_IMM,
          PacketOpcode.SEND_ONLY_IMM ->
          send(packet);
      case PacketOpcode.READ_REQUEST -> read(packet);
      case PacketOpcode.FETCH_ADD,
          PacketOpcode.COMPARE_SWAP,
          PacketOpcode.MASKED_FETCH_ADD,
          PacketOpcode.MASKED_COMPARE_SWAP ->
          atomic(packet);
      default -> nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    };
  }

  private boolean outOfSequence(int ahead) {
    if (ahead < 0) {
      // A duplicate of what was carried out: the answer was lost.
      ackPending = true;
      ackPsn = Psn.add(expectedPsn, -1);
      queuePair.activate();
      return true;
    }
    if (!nakSent) {
      Packet nak = hca.packets.takeSpare();
      nakSent = true;
      answer(nak, PacketOpcode.ACKNOWLEDGE, expectedPsn);
      nak.syndrome = Aeth.NAK_SEQUENCE;
      tx.add(nak);
    }
    return true;
  }

  /** The request is carried out: the next one is expected. */
  private void advance(Packet packet, boolean messageDone) {
    expectedPsn = Psn.add(packet.psn, 1);
    nakSent = false;
    if (messageDone) {
      msn = (msn + 1) & Psn.MASK;
      message = Message.NONE;
    }
    if (packet.ackRequest) {
      ackPending = true;
      ackPsn = packet.psn;
      hca.acknowledgeLater(queuePair);
    }
  }

  private boolean write(Packet packet) {
    int opcode = packet.opcode;
    boolean first = PacketOpcode.isFirst(opcode);
    boolean last = PacketOpcode.isLast(opcode);
    boolean immediate = PacketOpcode.hasImmediate(opcode);
    int bytes = packet.bytes;
    if (first != (message == Message.NONE) || (!first && message != Message.WRITE)) {
      return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    }
    long address = writeAddress;
    SoftMemoryRegion target = region;
    long done = receivedBytes;
    long length = messageBytes;
    if (first) {
      if ((queuePair.rights & Rights.REMOTE_WRITE) == 0) {
        return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
      }
      address = packet.remoteAddress;
      length = packet.dmaLength & 0xffff_ffffL;
      done = 0;
      target = null;
      if (length > 0) {
        target = hca.regions.find(packet.rkey);
        if (target == null
            || target.refusal(queuePair.domain, address, length, Rights.REMOTE_WRITE) != 0) {
          return nak(Aeth.NAK_REMOTE_ACCESS, packet.psn, AsyncEvent.Type.QP_ACCESS_ERROR);
        }
      }
    }
    if (last ? done + bytes != length : bytes != mtu || done + bytes > length) {
      return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    }
    if (immediate && !receives.isReady()) {
      return noReceive(packet);
    }
    if (bytes > 0 && target != null) {
      try {
        if (last && hca.tracing) {
          hca.tracer.payload(packet, address, bytes, target.relaxed);
        } else {
          port.write(packet.payload, address, bytes, target.relaxed);
        }
      } catch (AccessFault gone) {
        return nak(Aeth.NAK_REMOTE_OPERATION, packet.psn, AsyncEvent.Type.QP_FATAL);
      }
    }
    writeAddress = address + bytes;
    region = target;
    receivedBytes = done + bytes;
    messageBytes = length;
    message = Message.WRITE;
    if (immediate) {
      receives.complete(packet, Cqe.RESPONDER_WRITE_IMM, length);
    }
    advance(packet, last);
    return true;
  }

  /** A request needs a receive WQE and there is none at hand: waits, or answers with a NAK. */
  private boolean noReceive(Packet packet) {
    if (receives.isBroken()) {
      return nak(Aeth.NAK_REMOTE_OPERATION, packet.psn, AsyncEvent.Type.QP_FATAL);
    }
    if (receives.isEmpty()) {
      notReady(packet.psn);
      return true;
    }
    return false;
  }

  /** Asks the requester to come again later. */
  private void notReady(int psn) {
    Packet nak = hca.packets.takeSpare();
    answer(nak, PacketOpcode.ACKNOWLEDGE, psn);
    nak.syndrome = Aeth.RNR_NAK | queuePair.connection.minRnrTimer();
    nakSent = true;
    // The NAK acknowledges what is before it.
    ackPending = false;
    tx.add(nak);
  }

  private boolean send(Packet packet) {
    int opcode = packet.opcode;
    boolean first = PacketOpcode.isFirst(opcode);
    boolean last = PacketOpcode.isLast(opcode);
    if (first != (message == Message.NONE) || (!first && message != Message.SEND)) {
      return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    }
    if (!last && packet.bytes != mtu) {
      return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    }
    if (!receives.isReady()) {
      return noReceive(packet);
    }
    if (first) {
      receives.begin();
      receivedBytes = 0;
      message = Message.SEND;
    }
    int syndrome = receives.scatter(packet);
    if (syndrome != 0) {
      receives.fail(syndrome);
      // Too long a message is the sender's fault; a bad buffer is ours.
      boolean tooLong = syndrome == Syndrome.LOCAL_LENGTH;
      return nak(tooLong ? Aeth.NAK_INVALID_REQUEST : Aeth.NAK_REMOTE_OPERATION, packet.psn, null);
    }
    receivedBytes += packet.bytes;
    if (last) {
      boolean immediate = PacketOpcode.hasImmediate(opcode);
      receives.complete(
          packet, immediate ? Cqe.RESPONDER_SEND_IMM : Cqe.RESPONDER_SEND, receivedBytes);
    }
    advance(packet, last);
    return true;
  }

  private boolean read(Packet packet) {
    long length = packet.dmaLength & 0xffff_ffffL;
    if (message != Message.NONE || (queuePair.rights & Rights.REMOTE_READ) == 0) {
      return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    }
    SoftMemoryRegion source = null;
    if (length > 0) {
      source = hca.regions.find(packet.rkey);
      if (source == null
          || source.refusal(queuePair.domain, packet.remoteAddress, length, Rights.REMOTE_READ)
              != 0) {
        return nak(Aeth.NAK_REMOTE_ACCESS, packet.psn, AsyncEvent.Type.QP_ACCESS_ERROR);
      }
    }
    int responses = Psn.packets(length, mtu);
    while (packet.progress < responses) {
      Packet response = hca.packets.take();
      if (response == null) {
        return false;
      }
      if (packet.progress == 0) {
        msn = (msn + 1) & Psn.MASK;
        // The first response acknowledges what is before it.
        ackPending = false;
      }
      int number = packet.progress++;
      answer(response, PacketOpcode.readResponse(number, responses), Psn.add(packet.psn, number));
      long offset = (long) number * mtu;
      response.bytes = (int) Math.min(mtu, length - offset);
      if (!gather(response, packet.remoteAddress + offset)) {
        hca.packets.release(response);
        return nak(Aeth.NAK_REMOTE_OPERATION, response.psn, AsyncEvent.Type.QP_FATAL);
      }
      tx.add(response);
    }
    expectedPsn = Psn.add(packet.psn, responses);
    nakSent = false;
    return true;
  }

  private boolean gather(Packet response, long address) {
    int bytes = response.bytes;
    if (bytes == 0) {
      return true;
    }
    try {
      long inPlace = port.map(address, bytes);
      if (inPlace != 0) {
        response.payload = inPlace;
        return true;
      }
      response.payload = response.buffer();
      response.beginReads();
      if (!port.read(address, response.payload, bytes, response)) {
        response.addRead();
      }
      response.endReads();
      return true;
    } catch (AccessFault gone) {
      return false;
    }
  }

  private boolean atomic(Packet packet) {
    int cell = packet.cellBytes;
    long address = packet.remoteAddress;
    if (message != Message.NONE
        || (queuePair.rights & Rights.REMOTE_ATOMIC) == 0
        || (address & (cell - 1)) != 0) {
      return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
    }
    SoftMemoryRegion target = hca.regions.find(packet.rkey);
    if (target == null
        || target.refusal(queuePair.domain, address, cell, Rights.REMOTE_ATOMIC) != 0) {
      return nak(Aeth.NAK_REMOTE_ACCESS, packet.psn, AsyncEvent.Type.QP_ACCESS_ERROR);
    }
    Packet answer = hca.packets.take();
    if (answer == null) {
      return false;
    }
    answer.opcode = packet.opcode;
    answer.swapAdd = packet.swapAdd;
    answer.compare = packet.compare;
    answer.swapMask = packet.swapMask;
    answer.compareMask = packet.compareMask;
    answer.cellBytes = cell;
    answer.psn = packet.psn;
    answer.queue = tx;
    RawMemory.putLong(answer.buffer(), 0);
    answer.beginReads();
    try {
      if (!port.atomic(address, cell, answer.buffer(), answer, answer)) {
        answer.addRead();
      }
    } catch (AccessFault gone) {
      hca.packets.release(answer);
      return nak(Aeth.NAK_REMOTE_OPERATION, packet.psn, AsyncEvent.Type.QP_FATAL);
    }
    answer.endReads();
    expectedPsn = Psn.add(packet.psn, 1);
    nakSent = false;
    msn = (msn + 1) & Psn.MASK;
    ackPending = false;
    if (answer.phase == Packet.Phase.READING) {
      atomicAnswer = answer;
    } else {
      finishAtomic(answer);
    }
    return true;
  }

  private void finishAtomic(Packet answer) {
    int psn = answer.psn;
    if (answer.phase == Packet.Phase.FAILED) {
      hca.packets.release(answer);
      nak(Aeth.NAK_REMOTE_OPERATION, psn, AsyncEvent.Type.QP_FATAL);
      return;
    }
    answer.takeAtomicResult();
    answer(answer, PacketOpcode.ATOMIC_ACKNOWLEDGE, psn);
    tx.add(answer);
  }

  /**
   * Refuses a request; the queue pair is in error afterwards.
   *
   * @param event what the host is told, or null when a CQE tells it
   * @return true: the request is dealt with
   */
  private boolean nak(int syndrome, int psn, AsyncEvent.@Nullable Type event) {
    Packet nak = hca.packets.takeSpare();
    answer(nak, PacketOpcode.ACKNOWLEDGE, psn);
    nak.syndrome = syndrome;
    ackPending = false;
    tx.add(nak);
    if (event != null) {
      hca.raise(event, queuePair.number());
    }
    queuePair.enterError();
    return true;
  }
}
