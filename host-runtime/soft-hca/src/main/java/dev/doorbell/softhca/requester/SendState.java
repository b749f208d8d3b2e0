package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketPool;
import dev.doorbell.softhca.packet.PortCounters;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.requester.SendRequest.RequestRing;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The unacknowledged requests of a queue pair: packet sequence numbers, the windows that bound
 * them, and go-back-N retransmission.
 *
 * <p>Unreliable transports number their packets here and get no acknowledgements.
 *
 * <p>An ACK acknowledges everything up to its number. READs and atomics end with their response,
 * which acknowledges what precedes them. A response to a later request means that the response of a
 * READ or atomic was lost: it is requested again.
 */
final class SendState {
  private static final int RNR_RETRY_INFINITE = 7;
  private static final long NANOS_PER_MICRO = 1_000;
  private static final int NOWHERE = -1;

  private final Runnable onProgress;
  private final QueuePairContext queuePair;
  private final PacketPool pool;
  private final PortCounters counters;
  private final RequestRing ring;
  private final TxQueue tx;
  private final PacketMaker maker;
  private final DevicePort port;
  private final long scratch;
  private final int mtu;
  private final boolean reliable;

  private final SendWindow window;
  private final @Nullable Pacer pacer;

  /** The PSN of the next new packet. */
  int nextPsn;

  private int unacknowledgedPsn;

  /** READs and atomics without a response, and the ring number of the oldest of them. */
  private int outstandingReads;

  private long oldestRead;

  /** Number of them that take several request packets. */
  private int splitReads;

  private int rnrRetries;
  private int retries;

  /** After an RNR NAK: nothing is sent until the timer expires. */
  private boolean rnrTimerRunning;

  private final Completion rnrTimer = this::onRnrTimer;

  /** The response that was requested again because it must have been lost. */
  private int retransmittedReadPsn = NOWHERE;

  private final AckTimer timer;

  /**
   * @param onProgress called when the requester may be able to continue
   * @param pacer of the connection, or null where nothing limits its rate
   */
  SendState(
      Runnable onProgress,
      QueuePairContext queuePair,
      HcaServices hca,
      RequestRing ring,
      TxQueue tx,
      PacketMaker maker,
      int startPsn,
      @Nullable Pacer pacer) {
    this.onProgress = onProgress;
    this.pacer = pacer;
    this.queuePair = queuePair;
    this.pool = hca.packets();
    this.counters = hca.counters();
    this.ring = ring;
    this.tx = tx;
    this.maker = maker;
    this.port = hca.port();
    this.scratch = hca.scratch();
    this.mtu = queuePair.mtu();
    this.reliable = queuePair.isReliable();
    this.timer = new AckTimer(port, this::onAckTimeout);
    this.window = new SendWindow(hca.wire(), mtu, hca.options().engine().firstRetryNanos());
    nextPsn = startPsn;
    unacknowledgedPsn = startPsn;
    resetRetries();
  }

  /** Restores the retry counters to the connection's attributes. */
  void resetRetries() {
    rnrRetries = queuePair.connection().rnrRetry();
    retries = queuePair.connection().retryCount();
  }

  /** False while the RNR timer runs. */
  boolean maySend() {
    return !rnrTimerRunning;
  }

  boolean hasOutstandingReads() {
    return outstandingReads > 0;
  }

  boolean isAcknowledged(int psn) {
    return Psn.difference(psn, unacknowledgedPsn) < 0;
  }

  /** The PSN of the next packet when nothing is outstanding; else -1. */
  int idlePsn() {
    return allAcknowledged() && outstandingReads == 0 && !rnrTimerRunning ? nextPsn : NOWHERE;
  }

  /** {@code packets} packets were carried out at the peer and acknowledged at once. */
  void completeInline(int packets) {
    nextPsn = Psn.add(nextPsn, packets);
    unacknowledgedPsn = nextPsn;
    resetRetries();
  }

  private boolean allAcknowledged() {
    return nextPsn == unacknowledgedPsn;
  }

  /** Drops all state: the queue pair is in error, was reset or closed. */
  void discard() {
    outstandingReads = 0;
    splitReads = 0;
    nextPsn = unacknowledgedPsn;
    timer.stop();
  }

  /**
   * Starts the ACK timer, and a measurement of the round trip, where packets are unacknowledged.
   */
  void startAckTimer() {
    if (allAcknowledged()) {
      return;
    }
    if (!timer.running && queuePair.connection().ackTimeout() != 0) {
      timer.start(ackTimeoutNanos());
    }
    if (window.needsMeasurement() && tx.isEmpty()) {
      window.measure(lastSent(), port.now());
    }
  }

  private long ackTimeoutNanos() {
    return window.ackTimeoutNanos(AckTimer.nanos(queuePair.connection().ackTimeout()));
  }

  /** The PSN of the last packet that was made. */
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
   * Assigns packet sequence numbers to the request that is sent next.
   *
   * @return false when a window is full: to be repeated after a response
   */
  boolean assignPsns(SendRequest request) {
    boolean read = request.hasResponse();
    request.packets = Opcode.isAtomic(request.opcode) ? 1 : Psn.packets(request.length, mtu);
    if ((read && !canIssueRead()) || unacknowledged() + request.packets > SendWindow.LARGEST) {
      request.packets = 0;
      return false;
    }
    request.firstPsn = nextPsn;
    request.phase = SendRequest.Phase.SENDING;
    nextPsn = Psn.add(nextPsn, request.packets);
    if (!reliable) {
      unacknowledgedPsn = nextPsn;
    }
    if (read) {
      request.stride = window.stride(Math.min(mtu, request.length));
      splitReads += request.isSplit() ? 1 : 0;
      if (outstandingReads++ == 0) {
        oldestRead = ring.sending;
      }
    }
    return true;
  }

  /**
   * Returns true if the peer's limit of outstanding READs and atomics admits another one. A READ of
   * more than a stride takes several request packets, {@value SendWindow#STRIDES} at a time.
   */
  private boolean canIssueRead() {
    int parts = splitReads == 0 ? 0 : SendWindow.STRIDES;
    return outstandingReads == 0 || outstandingReads + parts < queuePair.maxReadAtomic();
  }

  /** Number of packets of {@code request}, which is being sent, that the window admits. */
  int room(SendRequest request) {
    if (!reliable) {
      return Integer.MAX_VALUE;
    }
    int most = window.packets(Math.min(mtu, request.length));
    if (pacer != null) {
      most = Math.min(most, pacer.window());
    }
    int open = Psn.difference(Psn.add(request.firstPsn, request.sent), unacknowledgedPsn);
    if (!request.hasResponse()) {
      return most - open;
    }
    if (request.isSplit() && queuePair.maxReadAtomic() <= SendWindow.STRIDES) {
      // The peer's limit of outstanding READs admits one part at a time.
      return open == 0 ? request.stride : 0;
    }
    return open == 0 ? Math.max(most, request.stride) : most - open;
  }

  /** A response of the peer. */
  void receive(Packet packet) {
    int psn = packet.psn;
    if (Psn.difference(psn, nextPsn) >= 0 || Psn.difference(psn, unacknowledgedPsn) < 0) {
      return;
    }
    if (outstandingReads > 0 && followsOutstandingRead(packet)) {
      retransmitFromRead();
      return;
    }
    switch (packet.opcode) {
      case BthOpcode.ACKNOWLEDGE -> {
        int syndrome = packet.syndrome;
        if (Aeth.isAck(syndrome)) {
          if (pacer != null && Aeth.credits(syndrome) >= 0) {
            pacer.granted(Aeth.credits(syndrome));
          }
          acknowledge(psn);
        } else if (Aeth.isRnrNak(syndrome)) {
          onRnrNak(packet);
        } else {
          onNak(packet);
        }
      }
      case BthOpcode.ATOMIC_ACKNOWLEDGE -> onAtomicResponse(packet);
      default -> onReadResponse(packet);
    }
  }

  private void acknowledge(int psn) {
    acknowledgeBefore(Psn.add(psn, 1));
  }

  private void acknowledgeBefore(int psn) {
    int packets = Psn.difference(psn, unacknowledgedPsn);
    if (packets > 0) {
      unacknowledgedPsn = psn;
      resetRetries();
      if (skipAcknowledged()) {
        window.restore();
      }
      window.onAck(packets);
      if (pacer != null) {
        pacer.acknowledged(Psn.add(psn, -1), packets);
      }
      if (window.isMeasuredBy(Psn.add(psn, -1))) {
        window.measured(port.now());
      }
      boolean timedOut = window.clearTimeouts();
      if (allAcknowledged()) {
        timer.stop();
      } else if (timedOut) {
        timer.shorten(ackTimeoutNanos());
      } else {
        timer.setTimeout(ackTimeoutNanos());
        timer.progress();
      }
    }
  }

  /**
   * Skips retransmissions that were acknowledged meanwhile.
   *
   * @return true if there were any: the timeout was spurious
   */
  private boolean skipAcknowledged() {
    boolean skipped = false;
    while (ring.sending < ring.newest) {
      SendRequest request = ring.at(ring.sending);
      int acknowledged = Psn.difference(unacknowledgedPsn, request.firstPsn);
      if (request.phase != SendRequest.Phase.SENDING
          || request.packets == 0
          || acknowledged <= request.sent
          || request.hasResponse()) {
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

  /** The PSN of the next response packet of the oldest outstanding READ or atomic. */
  private int nextResponsePsn() {
    SendRequest request = ring.at(oldestRead);
    return Psn.add(request.firstPsn, (int) (request.received / mtu));
  }

  /** True when the packet implies that an earlier response was sent and lost. */
  private boolean followsOutstandingRead(Packet packet) {
    int behind = Psn.difference(packet.psn, nextResponsePsn());
    boolean nak = packet.opcode == BthOpcode.ACKNOWLEDGE && !Aeth.isAck(packet.syndrome);
    boolean plain = packet.opcode == BthOpcode.ACKNOWLEDGE && !nak;
    // A NAK may be of the READ itself; a plain ACK never answers it.
    return plain ? behind >= 0 : behind > 0;
  }

  /** The response to the oldest READ or atomic was lost: requests it again, once per position. */
  private void retransmitFromRead() {
    int psn = nextResponsePsn();
    acknowledgeBefore(psn);
    if (retransmittedReadPsn == psn) {
      return;
    }
    retransmittedReadPsn = psn;
    counters.add(Counter.IMPLIED_NAK_SEQ_ERR);
    onLoss();
    retransmitFrom(ring.at(oldestRead), psn);
  }

  /** Retransmits from {@code psn} on if a retry is left; else the request fails. */
  private void retransmitFrom(SendRequest request, int psn) {
    if (retries == 0) {
      request.fail(Syndrome.TRANSPORT_RETRY_EXCEEDED, VendorSyndrome.NONE);
      return;
    }
    retries--;
    goBackTo(psn);
  }

  private @Nullable SendRequest oldestReadRequest() {
    return outstandingReads == 0 ? null : ring.at(oldestRead);
  }

  private void onAtomicResponse(Packet packet) {
    SendRequest request = oldestReadRequest();
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
    request.scatter(port, scratch, request.cellBytes);
    finishRead(request);
  }

  private void onReadResponse(Packet packet) {
    SendRequest request = oldestReadRequest();
    if (request == null || request.opcode != Opcode.RDMA_READ || packet.psn != nextResponsePsn()) {
      return;
    }
    acknowledge(packet.psn);
    boolean last = packet.psn == request.lastPsn();
    long expected = Math.min(mtu, request.length - request.received);
    if (packet.bytes != expected) {
      request.fail(Syndrome.BAD_RESPONSE, VendorSyndrome.NONE);
      return;
    }
    request.scatter(port, packet.payload, packet.bytes);
    request.received += packet.bytes;
    if (last) {
      finishRead(request);
    }
  }

  private void finishRead(SendRequest request) {
    if (request.phase != SendRequest.Phase.FAILED) {
      request.phase = SendRequest.Phase.DONE;
    }
    splitReads -= request.isSplit() ? 1 : 0;
    if (--outstandingReads > 0) {
      do {
        oldestRead++;
      } while (!ring.at(oldestRead).hasResponse());
    }
  }

  private void onRnrNak(Packet packet) {
    SendRequest request = requestFor(packet.psn);
    if (request == null || rnrTimerRunning) {
      return;
    }
    acknowledgeBefore(packet.psn);
    counters.add(Counter.RNR_NAK_RETRY_ERR);
    if (rnrRetries == 0) {
      request.fail(Syndrome.RNR_RETRY_EXCEEDED, VendorSyndrome.NONE);
      return;
    }
    if (rnrRetries != RNR_RETRY_INFINITE) {
      rnrRetries--;
    }
    goBackTo(packet.psn);
    timer.progress();
    rnrTimerRunning = true;
    port.timer(Aeth.rnrMicros(packet.syndrome) * NANOS_PER_MICRO, rnrTimer);
  }

  private void onRnrTimer(boolean ok) {
    rnrTimerRunning = false;
    onProgress.run();
  }

  private void onNak(Packet packet) {
    SendRequest request = requestFor(packet.psn);
    if (request == null) {
      return;
    }
    acknowledgeBefore(packet.psn);
    switch (packet.syndrome) {
      case Aeth.NAK_SEQUENCE -> {
        counters.add(Counter.PACKET_SEQ_ERR);
        // During an RNR wait everything is sent again anyway.
        if (!rnrTimerRunning) {
          onLoss();
          retransmitFrom(request, packet.psn);
        }
      }
      case Aeth.NAK_INVALID_REQUEST -> {
        counters.add(Counter.REQ_REMOTE_INVALID_REQUEST);
        request.fail(Syndrome.REMOTE_INVALID_REQUEST, VendorSyndrome.NONE);
      }
      case Aeth.NAK_REMOTE_ACCESS -> {
        counters.add(Counter.REQ_REMOTE_ACCESS_ERRORS);
        request.fail(Syndrome.REMOTE_ACCESS, VendorSyndrome.NONE);
      }
      default -> request.fail(Syndrome.REMOTE_OPERATION, VendorSyndrome.NONE);
    }
  }

  /**
   * The ACK timer has expired.
   *
   * @return true to run the timer again
   */
  private boolean onAckTimeout() {
    if (allAcknowledged()) {
      return false;
    }
    if (rnrTimerRunning || !tx.isEmpty() || pool.isStarved() || maker.waitsForRoom()) {
      // What has not left cannot be acknowledged.
      return true;
    }
    SendRequest request = requestFor(unacknowledgedPsn);
    if (request == null || request.phase == SendRequest.Phase.FAILED) {
      return false;
    }
    long timeout = AckTimer.nanos(queuePair.connection().ackTimeout());
    // mlx5 counts the early repetitions of adaptive retransmission apart.
    boolean sooner = window.ackTimeoutNanos(timeout) < timeout;
    counters.add(sooner ? Counter.ROCE_ADP_RETRANS : Counter.LOCAL_ACK_TIMEOUT_ERR);
    window.onTimeout(unacknowledged());
    if (pacer != null) {
      pacer.lost();
    }
    if (sooner) {
      // The peer may be slow: only a whole timeout costs a retry.
      goBackTo(unacknowledgedPsn);
    } else {
      retransmitFrom(request, unacknowledgedPsn);
    }
    timer.setTimeout(ackTimeoutNanos());
    onProgress.run();
    return true;
  }

  private void onLoss() {
    window.onLoss(unacknowledged());
    if (pacer != null) {
      pacer.lost();
    }
  }

  /** The request that has a packet with this PSN, or null. */
  private @Nullable SendRequest requestFor(int psn) {
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
  private void goBackTo(int psn) {
    if (pacer != null) {
      pacer.forget();
    }
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

  /**
   * The timer of a requester that waits for acknowledgements. Starting and stopping it for every
   * message would cost more than the message: a timer that cannot be cancelled cheaply runs on, and
   * restarts if it expires after progress. A missing acknowledgement is detected after one to two
   * timeouts; the specification allows up to four (InfiniBand, chapter 9.7.6.1.3).
   */
  static final class AckTimer extends Completion.Cancellable {
    private static final long UNIT_NANOS = 4_096;

    private final DevicePort port;
    private final BooleanSupplier onTimeout;
    private long nanos;
    private boolean scheduled;

    /** True from {@link #start} to {@link #stop}. */
    boolean running;

    private boolean progressed;
    private long due;
    private boolean excused;

    /** Timers that could not be cancelled and expire without effect. */
    private int stale;

    /**
     * @param onTimeout called after a timeout without progress; true to run the timer again
     */
    AckTimer(DevicePort port, BooleanSupplier onTimeout) {
      this.port = port;
      this.onTimeout = onTimeout;
    }

    /** The nanoseconds that the exponent of a timeout stands for: 4.096 us times 2^exponent. */
    static long nanos(int exponent) {
      return UNIT_NANOS << exponent;
    }

    /** Starts it, unless it runs. */
    void start(long nanos) {
      if (running) {
        return;
      }
      running = true;
      this.nanos = nanos;
      if (scheduled) {
        progressed = true;
      } else {
        schedule();
      }
    }

    private void schedule() {
      progressed = false;
      scheduled = true;
      due = port.now() + nanos;
      port.timer(nanos, this);
    }

    /** The peer has acknowledged something. */
    void progress() {
      progressed = true;
    }

    /** Sets the timeout from the next start on. */
    void setTimeout(long nanos) {
      this.nanos = nanos;
    }

    /** Acts as {@link #progress}, and shortens the timeout that is running if it is much longer. */
    void shorten(long nanos) {
      progressed = true;
      this.nanos = nanos;
      if (running && scheduled && due - port.now() > 2 * nanos) {
        if (!port.cancelTimer(this)) {
          stale++;
        }
        schedule();
      }
    }

    /** Stops it: nothing is unacknowledged. */
    void stop() {
      if (running) {
        running = false;
        if (port.cancelTimer(this)) {
          scheduled = false;
        }
      }
    }

    @Override
    public void completed(boolean ok) {
      long now = port.now();
      if (stale > 0 && (!scheduled || now - due < 0)) {
        stale--;
        return;
      }
      scheduled = false;
      if (!running) {
        return;
      }
      // Expiry far too late means that this process did not run: the ACK may be in a socket. Once.
      boolean late = !excused && now - due > nanos / 2;
      excused = late;
      if (progressed || late || onTimeout.getAsBoolean()) {
        if (running) {
          schedule();
        }
      } else {
        running = false;
      }
    }
  }
}
