package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.SentRequests;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.packet.Packet;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a queue pair: takes WQEs in order, has them carried out, completes them in
 * order.
 *
 * <p>Under a fabric with virtual time, WQEs between their fetch and their first packet overlap, up
 * to {@link SoftHcaOptions.Engine#pipelineDepth}.
 */
final class Requester {
  private final SoftQueuePair queuePair;
  private final SoftHca hca;
  private final DevicePort port;
  private final WqeSource wqes;
  private final TxQueue tx;
  private final PacketMaker maker;
  private final InFlight inFlight;
  private final boolean reliable;
  private final LocalRead localRead;
  private final SoftCompletionQueue completionQueue;
  private final int pipelineDepth;
  private final long wqeNanos;
  private final RequestRing ring;
  private final @Nullable DirectWrites directWrites;

  /** The index of the next WQE to look at. */
  private long wqeIndex;

  /** Behind the last WQE that was begun, and how many messages were. */
  private long begunIndex;

  private int begunMessages;

  private boolean errorReported;
  private boolean dead;

  Requester(SoftQueuePair queuePair, WqeSource wqes, int startPsn, int mtu) {
    this.queuePair = queuePair;
    this.hca = queuePair.hca;
    this.port = hca.port;
    this.wqes = wqes;
    this.completionQueue = queuePair.sendCompletions;
    this.pipelineDepth = hca.options.engine().pipelineDepth();
    this.wqeNanos = hca.timing.wqeNanos();
    this.ring = new RequestRing(this, queuePair.attributes().sendBlocks());
    this.reliable = queuePair.attributes().transport() == Transport.RC;
    this.tx = new TxQueue(queuePair, port, hca.timing.packetNanos(), ring);
    this.maker = new PacketMaker(queuePair, tx, mtu);
    this.inFlight = new InFlight(this, queuePair, ring, tx, startPsn, mtu);
    this.localRead = new LocalRead(this, ring, port, hca.dropBuffer);
    this.directWrites =
        DirectWrites.arePossible(queuePair, wqes)
            ? new DirectWrites(queuePair, wqes, inFlight, mtu)
            : null;
  }

  /** What was under way is forgotten: the queue pair was reset or closed. */
  void discard() {
    dead = true;
    tx.drop();
    inFlight.forget();
  }

  /** A request has something to do again. */
  void ready() {
    if (!dead) {
      queuePair.activate();
    }
  }

  /** A response to this queue pair's requests. The packet is given back by the caller. */
  void receive(Packet packet) {
    if (reliable && queuePair.state() == QueuePairState.RTS) {
      inFlight.receive(packet);
      ready();
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
    if (refused != null) {
      ring.at(refused.request).fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PATH_REFUSED);
      tx.drop();
    }
    int work = 0;
    int progress;
    do {
      // A completion may be what a request behind it waits for: once more until nothing moves.
      progress = look(budget - work) + send(budget) + complete();
      work += progress;
    } while (progress > 0 && work < budget);
    if (reliable) {
      inFlight.watch();
    }
    if (work >= budget) {
      queuePair.activate();
    }
    return work;
  }

  /** Takes WQEs that are at hand into the pipeline. */
  private int look(int budget) {
    int looked = 0;
    boolean flushing = queuePair.state() == QueuePairState.ERR;
    if (!flushing && queuePair.state() != QueuePairState.RTS) {
      return 0;
    }
    long available = flushing && wqes.failed() ? wqeIndex : wqes.available();
    DirectWrites direct = directWrites;
    if (direct != null && !flushing && ring.isEmpty() && wqeIndex < available) {
      looked = direct.run(wqeIndex, available, budget);
      wqeIndex += looked;
      wqes.retire(wqeIndex);
      begunIndex = wqeIndex;
      begunMessages += looked;
    }
    while (wqeIndex < available
        && looked < budget
        && !ring.isFull()
        && ring.newest - ring.sending < pipelineDepth) {
      long segment = wqes.unit(wqeIndex, 0);
      SendRequest request = ring.next();
      request.begin(wqeIndex, segment);
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
        request.blocks = 1;
        request.fail(Syndrome.LOCAL_QP_OPERATION, mismatch);
      } else if (wqeIndex + request.blocks > available) {
        if (wqeIndex + request.blocks <= wqes.producer()) {
          return looked;
        }
        request.blocks = 1;
        request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
      } else if (hca.faults != null && hca.faults.strikes(queuePair, request)) {
        if (queuePair.state() == QueuePairState.ERR) {
          // It is flushed with what is behind it.
          return looked;
        }
      } else {
        request.phase = SendRequest.Phase.PARSING;
        if (hca.tracing) {
          queuePair.hca.tracer.fetched(queuePair.number(), request);
        }
        if (wqeNanos == 0 || port.delay(wqeNanos, request)) {
          request.phase = SendRequest.Phase.PARSED;
        }
      }
      wqeIndex += request.blocks;
      ring.newest++;
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

  /** Makes packets of requests in order, as far as fences, the peer and the packet pool allow. */
  private int send(int budget) {
    int made = 0;
    while (ring.sending < ring.newest && made < budget && inFlight.maySend()) {
      SendRequest request = ring.at(ring.sending);
      switch (request.phase) {
        case PARSED -> {
          if (!start(request)) {
            return made;
          }
          begun(request);
        }
        case SENDING -> {}
        case DONE, FLUSHED -> {
          ring.sending++;
          continue;
        }
        default -> {
          return made;
        }
      }
      if (request.phase == SendRequest.Phase.SENDING) {
        int before = request.sent;
        boolean all =
            request.opcode == Opcode.DUMP
                ? dump(request)
                : maker.make(request, ring.sending, inFlight.room(request));
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

  private boolean dump(SendRequest request) {
    queuePair.requests.serves(request.index);
    return localRead.go(request);
  }

  /**
   * Begins a request whose turn has come.
   *
   * @return false when it has to wait or has failed
   */
  private boolean start(SendRequest request) {
    boolean oldest = ring.oldest == ring.sending;
    int fence = ControlSegment.fence(request.fmCeSe);
    if (fence == ControlSegment.FENCE_STRONG_ORDERING
        ? !oldest
        : fence != ControlSegment.FENCE_NONE && inFlight.hasQuestions()) {
      return false;
    }
    WqeDecoder.decode(request, wqes, queuePair);
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
        // It flushes what earlier requests of the queue wrote, so it waits for them.
        if (oldest) {
          request.phase = SendRequest.Phase.SENDING;
        }
        yield oldest;
      }
      default -> inFlight.admit(request);
    };
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
    queuePair.requests.arrives(awaited.told());
    request.phase = SendRequest.Phase.DONE;
    return true;
  }

  /** Completes requests in order. */
  private int complete() {
    int done = 0;
    while (!ring.isEmpty()) {
      SendRequest request = ring.at(ring.oldest);
      boolean failing = queuePair.state() == QueuePairState.ERR;
      // What was done behind a request that failed is as if it had not been.
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
        if (room == SoftCompletionQueue.WAIT) {
          return done;
        }
        if (room == SoftCompletionQueue.OVERRUN) {
          queuePair.enterError();
        } else if (success) {
          completionQueue.writer(queuePair.requests);
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
        ? !request.isAnswered() && inFlight.isAcknowledged(request.lastPsn())
        : tx.hasLeft(ring.oldest);
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
    inFlight.forget();
    ready();
  }

  private void begun(SendRequest request) {
    begunIndex = request.index + request.blocks;
    begunMessages += Opcode.isMessage(request.opcode) ? 1 : 0;
  }

  /** How far the queue was begun; it stays so in error. */
  SentRequests sent() {
    return new SentRequests(
        (int) begunIndex & SendQueue.INDEX_MASK, begunMessages & ExecutedRequests.MASK);
  }

  /** Requests that are not complete, for messages. */
  long outstanding() {
    return ring.newest - ring.oldest;
  }

  /** The connection's attributes have changed, which they do when it becomes ready to send. */
  void attributesChanged() {
    inFlight.refillRetries();
  }
}
