package dev.doorbell.softhca.requester;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.congestion.CongestionPolicy;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaPipeline.ServiceTimes;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.HcaTracer;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.NumberTable;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.requester.PacketMaker.DynamicConnection;
import dev.doorbell.softhca.requester.SendRequest.RequestRing;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a queue pair: takes WQEs in order, carries them out, and completes them in
 * order.
 *
 * <p>Under a fabric with virtual time, WQEs between their fetch and their first packet overlap, up
 * to {@link dev.doorbell.softhca.device.SoftHcaOptions.Engine#pipelineDepth}.
 */
public final class Requester {
  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final DevicePort port;
  private final @Nullable HcaTracer tracer;
  private final WqeSource wqes;
  private final WqeDecoder decoder;
  private final RequestTxQueue tx;
  private final PacketMaker maker;
  private final SendState sendState;
  private final boolean reliable;
  private final Promises promises;
  private final LocalRead localRead;
  private final @Nullable Pacer pacer;
  private final @Nullable DynamicConnection dynamic;
  private final Completions completionQueue;
  private final NumberTable<SoftCompletionQueue> completionQueues;
  private final int pipelineDepth;
  private final int mostParsing;
  private final long wqeNanos;
  private final ServiceTimes turns = new ServiceTimes();
  private final RequestRing ring;
  private final @Nullable DirectRequests direct;

  /** The index of the next WQE to take. */
  private long wqeIndex;

  private boolean errorReported;
  private boolean dead;

  /**
   * @param completionQueues of the HCA, which WAIT names by number
   * @param sendBlocks 64-byte blocks of the send ring
   */
  public Requester(
      QueuePairContext queuePair,
      HcaServices hca,
      NumberTable<SoftCompletionQueue> completionQueues,
      WqeSource wqes,
      int sendBlocks,
      int startPsn) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.port = hca.port();
    this.tracer = hca.tracer();
    this.completionQueues = completionQueues;
    this.wqes = wqes;
    this.decoder = new WqeDecoder(queuePair, hca, wqes);
    this.completionQueue = queuePair.sendCompletions;
    this.pipelineDepth = hca.options().engine().pipelineDepth();
    this.wqeNanos = hca.options().timing().wqeNanos();
    this.mostParsing = hca.options().timing().mostParsing(pipelineDepth);
    this.ring = new RequestRing(this::ready, sendBlocks);
    this.reliable = queuePair.isReliable();
    this.promises = hca.options().promises();
    this.tx = new RequestTxQueue();
    CongestionPolicy policy = hca.options().congestion().policy();
    this.pacer =
        policy == null || !reliable || queuePair.isDynamic()
            ? null
            : new Pacer(policy.begin(queuePair.mtu()), port, queuePair.mtu(), this::wake);
    this.dynamic = queuePair.isDynamic() ? new DynamicConnection(queuePair, hca) : null;
    this.maker =
        new PacketMaker(
            queuePair, hca, tx, dynamic, pacer == null ? Integer.MAX_VALUE : pacer.ackInterval());
    this.sendState = new SendState(this::ready, queuePair, hca, ring, tx, maker, startPsn, pacer);
    this.localRead = new LocalRead();
    boolean isDirect = queuePair.transport == Transport.RC && hca.isImmediate();
    this.direct = isDirect ? new DirectRequests(queuePair, hca, wqes, sendState) : null;
  }

  /** Drops all state: the queue pair was reset or closed. */
  public void discard() {
    dead = true;
    maker.discard();
    tx.drop();
    sendState.discard();
  }

  /** A request may be able to continue. */
  private void ready() {
    if (!dead) {
      queuePair.activate();
    }
  }

  /** A response to this queue pair's requests. The caller releases the packet. */
  public void receive(Packet packet) {
    if (reliable && queuePair.state() == QueuePairState.RTS) {
      sendState.receive(packet);
      ready();
    }
  }

  /**
   * Makes whatever progress is possible.
   *
   * @return work done, about in WQEs
   */
  public int run(int budget) {
    wqes.run();
    if (wqes.failed && queuePair.state() != QueuePairState.ERR) {
      hca.raise(AsyncEvent.Type.QP_FATAL, queuePair.number);
      queuePair.enterError();
    }
    Packet failed = tx.flush();
    if (failed != null) {
      ring.at(failed.request).fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PATH_REFUSED);
      tx.drop();
    }
    int work = 0;
    int progress;
    do {
      // A completion may unblock a later request: repeat until nothing makes progress.
      progress = fetchWqes(budget - work) + send(budget) + complete();
      work += progress;
    } while (progress > 0 && work < budget);
    maker.endTurn();
    if (reliable) {
      sendState.startAckTimer();
    }
    if (work >= budget) {
      queuePair.activate();
    }
    return work;
  }

  /** Takes fetched WQEs into the pipeline. */
  private int fetchWqes(int budget) {
    int taken = 0;
    boolean flushing = queuePair.state() == QueuePairState.ERR;
    if (!flushing && queuePair.state() != QueuePairState.RTS) {
      return 0;
    }
    long available = flushing && wqes.failed ? wqeIndex : wqes.available();
    if (direct != null && !flushing && ring.isEmpty() && wqeIndex < available) {
      taken = direct.run(wqeIndex, available, budget);
      wqeIndex += taken;
      wqes.retire(wqeIndex);
      if (direct.stoppedByBudget) {
        return budget;
      }
    }
    while (wqeIndex < available
        && taken < budget
        && !ring.isFull()
        && ring.newest - ring.sending < pipelineDepth
        && mayParse()) {
      long segment = wqes.unit(wqeIndex, 0);
      SendRequest request = ring.next();
      request.begin(wqeIndex, segment);
      int mismatch = headerMismatch(request, segment);
      if (flushing) {
        if (mismatch != VendorSyndrome.NONE) {
          // Not the beginning of a WQE: a block of a WQE of unknown length.
          wqeIndex++;
          wqes.retire(wqeIndex);
          continue;
        }
        request.phase = SendRequest.Phase.FLUSHED;
      } else if (mismatch != VendorSyndrome.NONE) {
        request.blocks = 1;
        request.fail(Syndrome.LOCAL_QP_OPERATION, mismatch);
      } else if (wqeIndex + request.blocks > available) {
        if (wqeIndex + request.blocks <= wqes.producer) {
          return taken;
        }
        request.blocks = 1;
        request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
      } else if (!isStruckByFault(request)) {
        request.phase = SendRequest.Phase.PARSING;
        if (tracer != null) {
          tracer.fetched(
              queuePair.number, request.index, request.opcode, request.ds, request.blocks);
        }
        long nanos = wqeNanos + hca.pipeline().wqe(queuePair.number, turns);
        if (nanos == 0 || port.delay(nanos, request)) {
          request.phase = SendRequest.Phase.PARSED;
        }
      } else if (queuePair.state() == QueuePairState.ERR) {
        // It is flushed together with the WQEs behind it.
        return taken;
      }
      wqeIndex += request.blocks;
      ring.newest++;
      taken++;
    }
    return taken;
  }

  /**
   * False while the engine holds as many WQEs of the queue pair as its ceiling allows: the next one
   * waits in the queue, so that those of other queue pairs come between.
   */
  private boolean mayParse() {
    return ring.newest - ring.oldest < mostParsing
        || ring.at(ring.newest - mostParsing).phase != SendRequest.Phase.PARSING;
  }

  /** Carries out a fault of a WQE: the request has failed, or the queue pair is in error. */
  private boolean isStruckByFault(SendRequest request) {
    HcaFaults faults = hca.faults();
    Fault fault = faults == null ? null : faults.onWqe(queuePair, request.opcode);
    if (fault == null) {
      return false;
    }
    if (fault.action() == FaultAction.CQE_ERROR) {
      request.fail(fault.number(), VendorSyndrome.INJECTED);
    } else {
      queuePair.failFromOutside();
    }
    return true;
  }

  private int headerMismatch(SendRequest request, long segment) {
    if (request.ds == 0) {
      return VendorSyndrome.BAD_LENGTH_FIELD;
    }
    if (ControlSegment.wqeIndex(segment) != ((int) wqeIndex & SendQueue.INDEX_MASK)) {
      return VendorSyndrome.INDEX_MISMATCH;
    }
    return ControlSegment.qpn(segment) == queuePair.number
        ? VendorSyndrome.NONE
        : VendorSyndrome.NUMBER_MISMATCH;
  }

  /**
   * Makes packets of requests in order, as far as fences, the peer and the packet pool allow. None
   * in the error state, whatever was parsed by then: its PSN would be that of a request before it.
   */
  private int send(int budget) {
    if (queuePair.state() == QueuePairState.ERR) {
      return 0;
    }
    int made = 0;
    while (ring.sending < ring.newest && made < budget && sendState.maySend()) {
      SendRequest request = ring.at(ring.sending);
      switch (request.phase) {
        case PARSED -> {
          if (!start(request)) {
            return made;
          }
        }
        case SENDING -> {}
        case DONE -> {
          ring.sending++;
          continue;
        }
        default -> {
          return made;
        }
      }
      if (request.phase == SendRequest.Phase.SENDING) {
        int before = request.sent;
        boolean all = request.opcode == Opcode.DUMP ? dump(request) : makePackets(request);
        made += request.sent - before;
        if (!all) {
          return made;
        }
      }
      ring.sending++;
      made++;
    }
    return made;
  }

  /** Makes packets of a request as far as window and rate allow; true when all are made. */
  private boolean makePackets(SendRequest request) {
    Pacer pace = pacer;
    if (pace == null || request.hasResponse()) {
      return maker.make(request, ring.sending, sendState.room(request), Integer.MAX_VALUE);
    }
    while (pace.mayLeave()) {
      int before = request.sent;
      boolean all = maker.make(request, ring.sending, sendState.room(request), 1);
      if (request.sent == before) {
        return all;
      }
      pace.sent(Psn.add(request.firstPsn, before), maker.lastFrameBytes, maker.lastAsksForAck);
      if (request.sent == request.packets) {
        return true;
      }
    }
    return false;
  }

  /** A packet may leave: outside of the HCA's step. */
  private void wake() {
    if (!dead) {
      queuePair.activateFromOutside();
    }
  }

  /** A CNP of the peer. */
  public void onNotification() {
    if (pacer != null) {
      hca.counters().add(Counter.RP_CNP_HANDLED);
      pacer.notified();
    }
  }

  private boolean dump(SendRequest request) {
    queuePair.requests.serves(request.index);
    return localRead.start(request);
  }

  /**
   * Begins the next request.
   *
   * @return false when it has to wait or has failed
   */
  private boolean start(SendRequest request) {
    if (direct != null && direct.waits()) {
      return false;
    }
    boolean oldest = ring.oldest == ring.sending;
    int fence = ControlSegment.fence(request.fmCeSe);
    boolean waits =
        fence == ControlSegment.FENCE_STRONG_ORDERING || waitsForAcknowledgement(request);
    if (waits ? !oldest : fence != ControlSegment.FENCE_NONE && sendState.hasOutstandingReads()) {
      return false;
    }
    if (waits) {
      queuePair.requests.fenced();
    }
    decoder.decode(request);
    if (request.phase == SendRequest.Phase.FAILED) {
      return false;
    }
    return switch (request.opcode) {
      case Opcode.NOP -> {
        request.phase = SendRequest.Phase.DONE;
        yield true;
      }
      case Opcode.WAIT -> startWait(request);
      case Opcode.DUMP -> {
        // It flushes what earlier requests of the queue have written, so it waits for them.
        if (oldest) {
          request.phase = SendRequest.Phase.SENDING;
        }
        yield oldest;
      }
      default ->
          (direct != null && direct.execute(request))
              ? request.phase == SendRequest.Phase.DONE
              : mayUseConnection(request, oldest) && sendState.assignPsns(request);
    };
  }

  /**
   * Connects an initiator to the request's target if it is connected to another one and nothing is
   * outstanding there. Always true on other transports.
   */
  private boolean mayUseConnection(SendRequest request, boolean oldest) {
    DynamicConnection present = dynamic;
    if (present == null || present.leadsTo(request)) {
      return true;
    }
    if (!oldest) {
      return false;
    }
    tx.drop();
    present.connect(request, sendState.nextPsn);
    return true;
  }

  /** True when the adapter holds a request until those before it are acknowledged. */
  private boolean waitsForAcknowledgement(SendRequest request) {
    return promises.sending() == Promise.Sending.ACKNOWLEDGED
        || (promises.atomics() == Promise.Atomics.AFTER_ACKNOWLEDGEMENT
            && Opcode.isAtomic(request.opcode));
  }

  private boolean startWait(SendRequest request) {
    SoftCompletionQueue awaited = completionQueues.find(request.rkey);
    if (awaited == null) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.UNKNOWN_QUEUE);
      return false;
    }
    if (!awaited.reached((int) request.swapAdd)) {
      awaited.await(queuePair);
      return false;
    }
    queuePair.requests.arrives(awaited.knowledge());
    request.phase = SendRequest.Phase.DONE;
    return true;
  }

  /** Completes requests in order. */
  private int complete() {
    int done = 0;
    while (!ring.isEmpty()) {
      SendRequest request = ring.at(ring.oldest);
      boolean failing = queuePair.state() == QueuePairState.ERR;
      // Requests behind a failed one are flushed even if they were carried out.
      boolean success =
          !errorReported
              && switch (request.phase) {
                case DONE -> true;
                case WAITING -> isAcknowledged(request);
                default -> false;
              };
      boolean failed = request.phase == SendRequest.Phase.FAILED && !errorReported;
      if (!success && !failed && !failing) {
        return done;
      }
      queuePair.requests.completes(request.index + request.blocks);
      int syndrome = success ? 0 : failed ? request.syndrome : Syndrome.FLUSHED;
      if (isReported(request, success)) {
        int room = completionQueue.room(queuePair);
        completionQueue.user(queuePair.userIndex);
        if (room == Completions.WAIT) {
          return done;
        }
        if (room == Completions.OVERRUN) {
          queuePair.enterError();
        } else if (success) {
          completionQueue.writer(queuePair.requests);
          completionQueue.requester(
              queuePair.number, request.opcode, (int) request.index, (int) request.length);
        } else {
          hca.counters()
              .add(
                  syndrome == Syndrome.FLUSHED
                      ? Counter.REQ_CQE_FLUSH_ERROR
                      : Counter.REQ_CQE_ERROR);
          completionQueue.error(
              Cqe.REQUESTER_ERROR,
              syndrome,
              failed ? request.vendorSyndrome : VendorSyndrome.NONE,
              request.opcode,
              queuePair.number,
              (int) request.index);
        }
      }
      ring.oldest++;
      done++;
      wqes.retire(request.index + request.blocks);
      if (ring.sending < ring.oldest) {
        ring.sending = ring.oldest;
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
      return localRead.isDone();
    }
    return reliable
        ? !request.hasResponse() && sendState.isAcknowledged(request.lastPsn())
        : tx.hasLeft(ring.oldest);
  }

  private boolean isReported(SendRequest request, boolean success) {
    if (success) {
      return ControlSegment.isSignalled(request.fmCeSe);
    }
    return !errorReported
        || ControlSegment.completionMode(request.fmCeSe) != ControlSegment.COMPLETE_ON_FIRST_ERROR;
  }

  /** The queue pair is in error: nothing more is sent, everything outstanding is flushed. */
  public void enterError() {
    tx.drop();
    sendState.discard();
    ready();
  }

  /** Incomplete requests. */
  public long outstanding() {
    return ring.newest - ring.oldest;
  }

  /** The connection's attributes have changed. */
  public void attributesChanged() {
    sendState.resetRetries();
  }

  /** DUMP: reads local memory and drops it, which pushes earlier writes to that memory. */
  private final class LocalRead {
    private static final int MOST_READS = 64;

    private final Completion completion = this::read;

    private int reads;

    /** True when every read that was started has ended. */
    boolean isDone() {
      return reads == 0;
    }

    /**
     * Starts the reads of a request.
     *
     * @return true when all are started
     */
    boolean start(SendRequest request) {
      try {
        while (request.piece < request.pieces) {
          if (reads >= MOST_READS) {
            return false;
          }
          long address = request.pieceAddress[request.piece] + request.pieceOffset;
          int left = request.pieceBytes[request.piece] - request.pieceOffset;
          int bytes = Math.min(left, Packet.MAX_PAYLOAD);
          if (port.map(address, bytes) == 0
              && !port.read(address, hca.dropBuffer(), bytes, completion)) {
            reads++;
          }
          request.advance(bytes);
        }
      } catch (AccessFault gone) {
        request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
        return false;
      }
      request.phase = SendRequest.Phase.WAITING;
      return true;
    }

    private void read(boolean ok) {
      reads--;
      if (!ok && !ring.isEmpty() && ring.at(ring.oldest).opcode == Opcode.DUMP) {
        ring.at(ring.oldest).fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PATH_REFUSED);
      }
      ready();
    }
  }

  /**
   * The packets of requests on their way to the wire: records which requests have left entirely.
   */
  private final class RequestTxQueue extends TxQueue {
    /** One past the newest request whose last packet has left. */
    private long left;

    RequestTxQueue() {
      super(queuePair, hca, hca.options().timing().packetNanos());
    }

    /** True when the last packet of that request has left. */
    boolean hasLeft(long request) {
      return request < left;
    }

    @Override
    protected void onGathered(Packet packet) {
      if (tracer != null && packet.lastOfMessage) {
        SendRequest request = ring.at(packet.request);
        tracer.gathered(queuePair.number, request.index, request.length);
      }
    }

    @Override
    protected void onTransmit(Packet packet) {
      if (!packet.lastOfMessage) {
        return;
      }
      left = packet.request + 1;
      if (tracer != null) {
        if (packet.phase == Packet.Phase.HELD) {
          onGathered(packet);
        }
        SendRequest request = ring.at(packet.request);
        tracer.emitted(
            queuePair.number, request.index, request.opcode, request.length, request.packets);
      }
    }

    @Override
    protected @Nullable Object knowledge(Packet packet) {
      if (packet.request == Packet.NO_REQUEST) {
        return queuePair.requests.departs(0);
      }
      long index = ring.at(packet.request).index;
      return queuePair.requests.departs(packet.lastOfMessage ? index + 1 : index);
    }
  }
}
