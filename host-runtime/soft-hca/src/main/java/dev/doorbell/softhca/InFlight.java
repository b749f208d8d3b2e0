package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Psn;
import org.jspecify.annotations.Nullable;

/**
 * What a reliable requester has on its way to the peer: packet sequence numbers, the windows that
 * bound it, and what the peer's answers and its silence mean.
 *
 * <p>Unreliable transports number their packets here and expect nothing back.
 *
 * <p>An ACK stands for everything up to its number. READs and atomics are <em>questions</em>: they
 * end with their answer, which acknowledges what is before them. An answer to something later means
 * that a question's answer was lost: it is asked again.
 */
final class InFlight {
  private static final int RNR_WITHOUT_END = 7;
  private static final long NANOS_PER_MICRO = 1_000;
  private static final int NOWHERE = -1;

  private final Requester requester;
  private final SoftQueuePair queuePair;
  private final RequestRing ring;
  private final TxQueue tx;
  private final DevicePort port;
  private final long scratch;
  private final int mtu;
  private final boolean reliable;

  private final SendWindow window;

  private int nextPsn;
  private int unacknowledgedPsn;

  /** READs and atomics without an answer, and where the oldest of them is in the ring. */
  private int questions;

  private long answering;

  /** Those among them that are asked for in parts. */
  private int splits;

  private int rnrRetries;
  private int retries;

  /** The peer has asked to be left alone for a while. */
  private boolean waiting;

  private final Completion waitOver = this::waited;

  /** The question that was asked again because its answer must have been lost. */
  private int askedAgainPsn = NOWHERE;

  /** The ACK timer: one at most is under way, and it looks back at what has happened meanwhile. */
  private final AckTimer timer;

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
    this.reliable = queuePair.attributes().transport() == Transport.RC;
    this.timer = new AckTimer(port, this::silence);
    this.window =
        new SendWindow(queuePair.hca.wire(), mtu, queuePair.hca.options.engine().firstRetryNanos());
    nextPsn = startPsn;
    unacknowledgedPsn = startPsn;
    refillRetries();
  }

  /** From now on requests are tried again as often as the connection's attributes say. */
  void refillRetries() {
    rnrRetries = queuePair.connection.rnrRetry();
    retries = queuePair.connection.retryCount();
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

  /** The number of the next packet, when nothing is on its way and nothing waits; else -1. */
  int idlePsn() {
    return isQuiet() && questions == 0 && !waiting ? nextPsn : NOWHERE;
  }

  /** So many packets were sent and acknowledged at once. */
  void passed(int packets) {
    nextPsn = Psn.add(nextPsn, packets);
    unacknowledgedPsn = nextPsn;
    refillRetries();
  }

  private boolean isQuiet() {
    return nextPsn == unacknowledgedPsn;
  }

  /** Nothing is waited for any more: the queue pair is in error, was reset or closed. */
  void forget() {
    questions = 0;
    splits = 0;
    nextPsn = unacknowledgedPsn;
    timer.rest();
  }

  /** Makes sure that silence of the peer is noticed. */
  void watch() {
    if (isQuiet()) {
      return;
    }
    if (!timer.isWanted() && queuePair.connection.ackTimeout() != 0) {
      timer.start(patience());
    }
    if (window.wantsMeasurement() && tx.isEmpty()) {
      window.measure(lastSent(), port.now());
    }
  }

  private long patience() {
    return window.patience(AckTimer.nanos(queuePair.connection.ackTimeout()));
  }

  /** The number of the last packet that was made. */
  private int lastSent() {
    if (ring.sending < ring.newest) {
      SendRequest request = ring.at(ring.sending);
      if (request.phase == SendRequest.Phase.SENDING) {
        return Psn.add(request.firstPsn, request.sent - 1);
      }
    }
    return Psn.add(nextPsn, -1);
  }

  private int unacknowledged() {
    return Psn.difference(nextPsn, unacknowledgedPsn);
  }

  /**
   * Gives the request that is sent next its packet sequence numbers.
   *
   * @return false when a window is full: try again after an answer
   */
  boolean admit(SendRequest request) {
    boolean question = request.isAnswered();
    request.packets = Opcode.isAtomic(request.opcode) ? 1 : Psn.packets(request.length, mtu);
    if ((question && !mayAsk()) || unacknowledged() + request.packets > SendWindow.LARGEST) {
      request.packets = 0;
      return false;
    }
    request.firstPsn = nextPsn;
    request.phase = SendRequest.Phase.SENDING;
    nextPsn = Psn.add(nextPsn, request.packets);
    if (!reliable) {
      unacknowledgedPsn = nextPsn;
    }
    if (question) {
      request.stride = window.stride(Math.min(mtu, request.length));
      splits += request.isSplit() ? 1 : 0;
      if (questions++ == 0) {
        answering = ring.sending;
      }
    }
    return true;
  }

  /**
   * Whether the peer keeps the answer of one more question. READs of more than a stride are asked
   * for in parts, of which the window lets {@value SendWindow#STRIDES} be under way beside the last
   * ones.
   */
  private boolean mayAsk() {
    int parts = splits == 0 ? 0 : SendWindow.STRIDES;
    return questions == 0 || questions + parts < queuePair.maxReadAtomic;
  }

  /** How many packets of {@code request}, which is being sent, the window has room for. */
  int room(SendRequest request) {
    if (!reliable) {
      return Integer.MAX_VALUE;
    }
    int most = window.packets(Math.min(mtu, request.length));
    int open = Psn.difference(Psn.add(request.firstPsn, request.sent), unacknowledgedPsn);
    if (!request.isAnswered()) {
      return most - open;
    }
    if (request.isSplit() && queuePair.maxReadAtomic <= SendWindow.STRIDES) {
      // The peer does not keep the answers of so many parts.
      return open == 0 ? request.stride : 0;
    }
    return open == 0 ? Math.max(most, request.stride) : most - open;
  }

  /** An answer of the peer. */
  void receive(Packet packet) {
    int psn = packet.psn;
    if (Psn.difference(psn, nextPsn) >= 0 || Psn.difference(psn, unacknowledgedPsn) < 0) {
      return;
    }
    if (questions > 0 && isBehindAQuestion(packet)) {
      askAgain();
      return;
    }
    switch (packet.opcode) {
      case BthOpcode.ACKNOWLEDGE -> {
        int syndrome = packet.syndrome;
        if (Aeth.isAck(syndrome)) {
          acknowledge(psn);
        } else if (Aeth.isRnrNak(syndrome)) {
          notReady(packet);
        } else {
          refused(packet);
        }
      }
      case BthOpcode.ATOMIC_ACKNOWLEDGE -> atomicAnswer(packet);
      default -> readAnswer(packet);
    }
  }

  private void acknowledge(int psn) {
    acknowledgeBefore(Psn.add(psn, 1));
  }

  private void acknowledgeBefore(int psn) {
    int packets = Psn.difference(psn, unacknowledgedPsn);
    if (packets > 0) {
      unacknowledgedPsn = psn;
      refillRetries();
      if (skip()) {
        window.reopen();
      }
      window.acknowledged(packets);
      if (window.isMeasuredBy(Psn.add(psn, -1))) {
        window.measured(port.now());
      }
      boolean hasten = window.endSilence();
      if (isQuiet()) {
        timer.rest();
      } else if (hasten) {
        timer.hasten(patience());
      } else {
        timer.next(patience());
        timer.progress();
      }
    }
  }

  /**
   * What is to be sent again and was acknowledged meanwhile is not sent again.
   *
   * @return true when there was such: nothing was lost, the peer was slow
   */
  private boolean skip() {
    boolean skipped = false;
    while (ring.sending < ring.newest) {
      SendRequest request = ring.at(ring.sending);
      int acknowledged = Psn.difference(unacknowledgedPsn, request.firstPsn);
      if (request.phase != SendRequest.Phase.SENDING
          || request.packets == 0
          || acknowledged <= request.sent
          || request.isAnswered()) {
        return skipped;
      }
      skipped = true;
      if (acknowledged < request.packets) {
        request.seek(acknowledged, mtu);
        return true;
      }
      request.sent = request.packets;
      request.phase = SendRequest.Phase.WAITING;
      ring.sending++;
    }
    return skipped;
  }

  /** The sequence number that the next packet of the oldest question's answer has. */
  private int answerPsn() {
    SendRequest request = ring.at(answering);
    return Psn.add(request.firstPsn, (int) (request.received / mtu));
  }

  /** Whether the packet could only be sent after an answer that has not come. */
  private boolean isBehindAQuestion(Packet packet) {
    int behind = Psn.difference(packet.psn, answerPsn());
    boolean refusal = packet.opcode == BthOpcode.ACKNOWLEDGE && !Aeth.isAck(packet.syndrome);
    boolean plain = packet.opcode == BthOpcode.ACKNOWLEDGE && !refusal;
    // A refusal may be of the question itself; a plain ACK never answers it.
    return plain ? behind >= 0 : behind > 0;
  }

  /** The answer of the oldest question was lost: asks again, once until something moves. */
  private void askAgain() {
    int psn = answerPsn();
    acknowledgeBefore(psn);
    if (askedAgainPsn == psn) {
      return;
    }
    askedAgainPsn = psn;
    window.lost(unacknowledged());
    resend(ring.at(answering), psn);
  }

  /** Sends again from {@code psn} on, if there are retries left. */
  private void resend(SendRequest request, int psn) {
    if (retries == 0) {
      request.fail(Syndrome.TRANSPORT_RETRY_EXCEEDED, VendorSyndrome.NONE);
      return;
    }
    retries--;
    rewind(psn);
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
    request.land(port, scratch, request.cellBytes);
    finishAnswered(request);
  }

  private void readAnswer(Packet packet) {
    SendRequest request = answered();
    if (request == null || request.opcode != Opcode.RDMA_READ || packet.psn != answerPsn()) {
      return;
    }
    acknowledge(packet.psn);
    boolean last = packet.psn == request.lastPsn();
    long expected = Math.min(mtu, request.length - request.received);
    if (packet.bytes != expected) {
      request.fail(Syndrome.BAD_RESPONSE, VendorSyndrome.NONE);
      return;
    }
    request.land(port, packet.payload, packet.bytes);
    request.received += packet.bytes;
    if (last) {
      finishAnswered(request);
    }
  }

  private void finishAnswered(SendRequest request) {
    if (request.phase != SendRequest.Phase.FAILED) {
      request.phase = SendRequest.Phase.DONE;
    }
    splits -= request.isSplit() ? 1 : 0;
    if (--questions > 0) {
      do {
        answering++;
      } while (!ring.at(answering).isAnswered());
    }
  }

  private void notReady(Packet packet) {
    SendRequest request = holding(packet.psn);
    if (request == null || waiting) {
      return;
    }
    acknowledgeBefore(packet.psn);
    if (rnrRetries == 0) {
      request.fail(Syndrome.RNR_RETRY_EXCEEDED, VendorSyndrome.NONE);
      return;
    }
    if (rnrRetries != RNR_WITHOUT_END) {
      rnrRetries--;
    }
    rewind(packet.psn);
    waiting = true;
    port.timer(Aeth.rnrMicros(packet.syndrome) * NANOS_PER_MICRO, waitOver);
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
    acknowledgeBefore(packet.psn);
    switch (packet.syndrome) {
      case Aeth.NAK_SEQUENCE -> {
        // A receiver that was not ready may answer what follows so: it all comes again anyway.
        if (!waiting) {
          window.lost(unacknowledged());
          resend(request, packet.psn);
        }
      }
      case Aeth.NAK_INVALID_REQUEST ->
          request.fail(Syndrome.REMOTE_INVALID_REQUEST, VendorSyndrome.NONE);
      case Aeth.NAK_REMOTE_ACCESS -> request.fail(Syndrome.REMOTE_ACCESS, VendorSyndrome.NONE);
      default -> request.fail(Syndrome.REMOTE_OPERATION, VendorSyndrome.NONE);
    }
  }

  /**
   * The timer has expired without an answer.
   *
   * @return true when the timer shall go on
   */
  private boolean silence() {
    if (isQuiet()) {
      return false;
    }
    if (waiting || !tx.isEmpty() || queuePair.hca.packets.isStarved()) {
      // Nobody owes us an answer to what has not left.
      return true;
    }
    SendRequest request = holding(unacknowledgedPsn);
    if (request == null || request.phase == SendRequest.Phase.FAILED) {
      return false;
    }
    long timeout = AckTimer.nanos(queuePair.connection.ackTimeout());
    boolean sooner = window.patience(timeout) < timeout;
    window.silent(unacknowledged());
    if (sooner) {
      // The peer may be slow: only a whole timeout costs a retry.
      rewind(unacknowledgedPsn);
    } else {
      resend(request, unacknowledgedPsn);
    }
    timer.next(patience());
    requester.ready();
    return true;
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
      request.seek(Math.max(0, offset), mtu);
      resume = number;
    }
    ring.sending = resume;
  }
}
