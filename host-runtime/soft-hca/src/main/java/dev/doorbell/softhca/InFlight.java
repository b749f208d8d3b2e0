package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import org.jspecify.annotations.Nullable;

/**
 * What a requester has on its way to the peer: packet sequence numbers, the windows that bound it,
 * and what the peer's answers mean for it.
 *
 * <p>An ACK stands for everything up to its number. READs and atomics are <em>questions</em>: they
 * end with their answer, which acknowledges what is before them.
 */
final class InFlight {
  /** Unacknowledged packets at most: comparisons of sequence numbers stay unambiguous. */
  private static final int PSN_WINDOW = 1 << 22;

  private static final int RNR_WITHOUT_END = 7;

  private final Requester requester;
  private final SoftQueuePair queuePair;
  private final RequestRing ring;
  private final TxQueue tx;
  private final DevicePort port;
  private final long scratch;
  private final int mtu;

  private int nextPsn;
  private int unacknowledgedPsn;

  /** READs and atomics without an answer, and where the oldest of them is in the ring. */
  private int questions;

  private long answering;

  private int rnrRetries;
  private int sequenceRetries;
  private boolean waiting;
  private final Completion waitOver = this::waited;

  InFlight(
      Requester requester,
      SoftQueuePair queuePair,
      RequestRing ring,
      TxQueue tx,
      int startPsn,
      int mtu) {
    this.requester = requester;
    this.queuePair = queuePair;
    this.ring = ring;
    this.tx = tx;
    this.port = queuePair.hca.port;
    this.scratch = queuePair.hca.scratch;
    this.mtu = mtu;
    nextPsn = startPsn;
    unacknowledgedPsn = startPsn;
    refillRetries();
  }

  private void refillRetries() {
    rnrRetries = queuePair.connection.rnrRetry();
    sequenceRetries = queuePair.connection.retryCount();
  }

  /** False while the peer has asked to be left alone. */
  boolean maySend() {
    return !waiting;
  }

  boolean hasQuestions() {
    return questions > 0;
  }

  boolean isAcknowledged(int psn) {
    return Psn.difference(psn, unacknowledgedPsn) < 0;
  }

  /** The queue pair is in error: no answer means anything any more. */
  void forget() {
    questions = 0;
  }

  /**
   * Gives the request that is sent next its packet sequence numbers.
   *
   * @return false when a window is full: try again after an answer
   */
  boolean admit(SendRequest request) {
    boolean question = request.isAnswered();
    request.packets = Opcode.isAtomic(request.opcode) ? 1 : Psn.packets(request.length, mtu);
    if ((question && questions >= queuePair.maxReadAtomic)
        || Psn.difference(nextPsn, unacknowledgedPsn) + request.packets > PSN_WINDOW) {
      request.packets = 0;
      return false;
    }
    request.firstPsn = nextPsn;
    request.phase = SendRequest.Phase.SENDING;
    nextPsn = Psn.add(nextPsn, request.packets);
    if (question && questions++ == 0) {
      answering = ring.sending;
    }
    return true;
  }

  /** An answer of the peer. */
  void receive(Packet packet) {
    int psn = packet.psn;
    if (Psn.difference(psn, nextPsn) >= 0 || Psn.difference(psn, unacknowledgedPsn) < 0) {
      return;
    }
    switch (packet.opcode) {
      case PacketOpcode.ACKNOWLEDGE -> {
        int syndrome = packet.syndrome;
        if (Aeth.isAck(syndrome)) {
          acknowledge(psn);
        } else if (Aeth.isRnr(syndrome)) {
          notReady(packet);
        } else {
          refused(packet);
        }
      }
      case PacketOpcode.ATOMIC_ACKNOWLEDGE -> atomicAnswer(packet);
      default -> readAnswer(packet);
    }
  }

  private void acknowledge(int psn) {
    if (Psn.difference(psn, unacknowledgedPsn) >= 0) {
      unacknowledgedPsn = Psn.add(psn, 1);
      refillRetries();
    }
  }

  private @Nullable SendRequest answered() {
    return questions == 0 ? null : ring.at(answering);
  }

  private void atomicAnswer(Packet packet) {
    SendRequest request = answered();
    if (request == null || !Opcode.isAtomic(request.opcode) || request.firstPsn != packet.psn) {
      return;
    }
    acknowledge(packet.psn);
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
        port.write(from, request.pieceAddress[piece] + request.pieceOffset, take, request.relaxed);
        from += take;
        left -= take;
        request.advance(take);
      }
    } catch (AccessFault gone) {
      request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
    }
  }

  private void finishAnswered(SendRequest request) {
    if (request.phase != SendRequest.Phase.FAILED) {
      request.phase = SendRequest.Phase.DONE;
    }
    if (--questions > 0) {
      do {
        answering++;
      } while (!ring.at(answering).isAnswered());
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
    waiting = true;
    port.timer(Aeth.rnrNanos(packet.syndrome), waitOver);
  }

  private void waited(boolean ok) {
    waiting = false;
    requester.ready();
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
    for (long number = ring.oldest; number < ring.newest; number++) {
      SendRequest request = ring.at(number);
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
    long resume = ring.sending;
    for (long number = Math.min(ring.sending, ring.newest - 1); number >= ring.oldest; number--) {
      SendRequest request = ring.at(number);
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
    ring.sending = resume;
  }

  private void seek(SendRequest request, int packet) {
    request.sent = packet;
    request.piece = 0;
    request.pieceOffset = 0;
    if (request.isAnswered()) {
      return;
    }
    long skip = (long) packet * mtu;
    while (skip > 0) {
      int take = (int) Math.min(skip, request.pieceBytes[request.piece]);
      request.advance(take);
      skip -= take;
    }
  }
}
