package dev.doorbell.verbs.posted;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.verbs.device.Transitions;
import dev.doorbell.verbs.device.VerbsDomain;
import dev.doorbell.verbs.device.VerbsRegion;
import dev.doorbell.verbs.generated.verbs.ibv_qp_cap;
import dev.doorbell.verbs.generated.verbs.ibv_qp_init_attr;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair whose WQEs are posted one by one by {@code ibv_post_send}.
 *
 * <p>A work request id holds the block at which a WQE begins, whether it is a receive, and the
 * number of resets of the queue pair, so that completions from before a reset are ignored.
 */
final class PostedQueuePair implements QueuePair {
  private static final int TRANSPORT_RC = 2;
  private static final int RECEIVE_SHIFT = 62;
  private static final int RESETS_SHIFT = 48;
  private static final int RESETS_MASK = 0x3fff;
  private static final long INDEX_MASK = (1L << RESETS_SHIFT) - 1;
  private static final Failure CREATE =
      new Failure(
          "create a queue pair",
          errno ->
              errno == Errno.ENOMEM
                  ? "make its rings smaller, or raise the limit of locked memory (ulimit -l)"
                  : "its rings may be larger than 'ibv_devinfo -v' allows (max_qp_wr)");
  private static final Failure DESTROY =
      Failure.of("close a queue pair", "this is a fault in Doorbell");

  private final PostedDevice device;
  private final VerbsDomain domain;
  private final QueuePairAttributes attributes;
  private final PostedCompletionQueue sendQueue;
  private final @Nullable PostedCompletionQueue receiveQueue;
  private final Memory sendRing;
  private final @Nullable Memory receiveRing;
  private final Memory record;
  private final VerbsRegion ringRegion;
  private final MemorySegment queuePair;
  private final VerbsConnection connection;
  private final int number;
  private final Allocation page;
  private final int startPsn;
  private final RequestTranslator translator;
  private final MemorySegment receiveRequest;

  /** Opcode of the WQE that begins at a slot. */
  private final byte[] opcodes;

  private final boolean[] signalled;
  private final int[] lengths;

  /** Syndrome of a WQE for which a placeholder was posted, or 0. */
  private final byte[] faults;

  private QueuePairState state = QueuePairState.RESET;
  private volatile boolean doorbellPending;
  private long sent;
  private long received;
  private int resets;

  /** True while a faulty WQE waits for the WQEs before it. */
  private boolean stalled;

  private boolean closed;

  PostedQueuePair(
      PostedDevice device,
      VerbsDomain domain,
      QueuePairAttributes attributes,
      PostedCompletionQueue sendQueue,
      @Nullable PostedCompletionQueue receiveQueue,
      Memory sendRing,
      @Nullable Memory receiveRing,
      Memory record) {
    this.device = device;
    this.domain = domain;
    this.attributes = attributes;
    this.sendQueue = sendQueue;
    this.receiveQueue = receiveQueue;
    this.sendRing = sendRing;
    this.receiveRing = receiveRing;
    this.record = record;
    int blocks = attributes.sendBlocks();
    this.opcodes = new byte[blocks];
    this.signalled = new boolean[blocks];
    this.lengths = new int[blocks];
    this.faults = new byte[blocks];
    this.receiveRequest =
        Arena.ofAuto()
            .allocate(
                SendRequestLayout.RECEIVE_BYTES + SendRequestLayout.SEGMENT_BYTES + Long.BYTES,
                Long.BYTES);
    this.ringRegion = VerbsRegion.register(domain, sendRing, 0, sendRing.size(), Set.of());
    try {
      this.queuePair = create();
    } catch (RuntimeException e) {
      ringRegion.close();
      throw e;
    }
    this.number =
        queuePair
            .reinterpret(VerbsConnection.NUMBER_OFFSET + Integer.BYTES)
            .get(ValueLayout.JAVA_INT, VerbsConnection.NUMBER_OFFSET);
    this.connection = new VerbsConnection(device.context, queuePair);
    this.translator =
        new RequestTranslator(sendRing.address(), blocks, ringRegion.lkey(), device.maxSegments());
    this.startPsn = number * 0x1_0001 & 0xff_ffff;
    this.page =
        device.allocatePage("%s qp 0x%x doorbell page".formatted(device.context.name, number));
    sendQueue.use(this);
    if (receiveQueue != null) {
      receiveQueue.use(this);
    }
  }

  private MemorySegment create() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_qp_init_attr.layout());
      ibv_qp_init_attr.send_cq(init, sendQueue.segment());
      ibv_qp_init_attr.recv_cq(
          init, receiveQueue == null ? sendQueue.segment() : receiveQueue.segment());
      ibv_qp_init_attr.qp_type(init, TRANSPORT_RC);
      MemorySegment capacity = ibv_qp_init_attr.cap(init);
      ibv_qp_cap.max_send_wr(capacity, attributes.sendBlocks());
      ibv_qp_cap.max_recv_wr(capacity, Math.max(1, attributes.receiveEntries()));
      ibv_qp_cap.max_send_sge(capacity, device.maxSegments());
      ibv_qp_cap.max_recv_sge(capacity, 1);
      return VerbsFunctions.CREATE_QP.pointer(CREATE, domain.pd, init);
    }
  }

  /** Handles a doorbell, on any thread: the doorbell record may have advanced. */
  void ring() {
    doorbellPending = true;
  }

  /** Posts WQEs up to the doorbell record; returns their number. */
  int post(int budget) {
    int work = 0;
    if (!doorbellPending
        || stalled
        || (state != QueuePairState.RTS && state != QueuePairState.ERR)) {
      return work;
    }
    // Cleared first, so that a doorbell during the loop is not lost.
    doorbellPending = false;
    long end = SendQueue.extend(sent, DoorbellRecord.sendIndex(record.address()));
    while (sent < end && !stalled && work < budget && postOne(end)) {
      work++;
    }
    if (sent < end) {
      doorbellPending = true;
    }
    return work;
  }

  private boolean postOne(long end) {
    int slot = SendQueue.slot(sent, attributes.sendBlocks());
    int fault = translator.translate(sent, end, number, id(sent, 0));
    int error = fault == 0 ? postRequest() : Errno.EINVAL;
    if (error != 0 && error != Errno.ENOMEM) {
      // Its error CQE follows those of the WQEs before it; until then a placeholder keeps its
      // position.
      fault = fault == 0 ? Syndrome.LOCAL_QP_OPERATION : fault;
      translator.placeholder(id(sent, 0));
      error = postRequest();
    }
    if (error == Errno.ENOMEM) {
      return false;
    }
    opcodes[slot] = (byte) translator.opcode();
    signalled[slot] = fault != 0 || translator.isSignalled();
    lengths[slot] = translator.bytes();
    faults[slot] = (byte) fault;
    long index = sent;
    sent += translator.blocks();
    if (error != 0) {
      // The provider accepts nothing any more and will not complete it.
      sendError(index, slot, fault, 0);
    } else {
      stalled = fault != 0 && state == QueuePairState.RTS;
    }
    return true;
  }

  private int postRequest() {
    return device.context.ops.postSend(
        queuePair.address(), translator.request, translator.badRequest);
  }

  /** Posts receives; returns their number. */
  int postReceives() {
    if (receiveRing == null || state == QueuePairState.RESET) {
      return 0;
    }
    long end = SendQueue.extend(received, DoorbellRecord.receiveIndex(record.address()));
    int work = 0;
    while (received < end) {
      long wqe =
          ReceiveSegment.wqeAddress(
              receiveRing.address(), attributes.receiveEntries(), ReceiveSegment.BYTES, received);
      long request = receiveRequest.address();
      long segment = request + SendRequestLayout.RECEIVE_BYTES;
      RawMemory.putLong(request + SendRequestLayout.ID_OFFSET, id(received, 1));
      RawMemory.putLong(request + SendRequestLayout.NEXT_OFFSET, 0);
      RawMemory.putLong(request + SendRequestLayout.SEGMENTS_OFFSET, segment);
      RawMemory.putInt(
          request + SendRequestLayout.SEGMENT_COUNT_OFFSET,
          ReceiveSegment.isTerminator(wqe) ? 0 : 1);
      RawMemory.putLong(
          segment + SendRequestLayout.SEGMENT_ADDRESS_OFFSET, ReceiveSegment.address(wqe));
      RawMemory.putInt(
          segment + SendRequestLayout.SEGMENT_LENGTH_OFFSET, ReceiveSegment.byteCount(wqe));
      RawMemory.putInt(segment + SendRequestLayout.SEGMENT_KEY_OFFSET, ReceiveSegment.lkey(wqe));
      int error =
          device.context.ops.postReceive(
              queuePair.address(), request, segment + SendRequestLayout.SEGMENT_BYTES);
      if (error != 0) {
        break;
      }
      received++;
      work++;
    }
    return work;
  }

  private long id(long index, long receive) {
    return receive << RECEIVE_SHIFT | (long) resets << RESETS_SHIFT | (index & INDEX_MASK);
  }

  /** Handles a completion of the provider: {@code struct ibv_wc} at native address {@code wc}. */
  void onCompletion(long wc) {
    long id = RawMemory.getLong(wc + WorkCompletionLayout.ID_OFFSET);
    if ((int) (id >>> RESETS_SHIFT) % (RESETS_MASK + 1) != resets) {
      return;
    }
    long index = id & INDEX_MASK;
    int status = RawMemory.getInt(wc + WorkCompletionLayout.STATUS_OFFSET);
    if (id >>> RECEIVE_SHIFT != 0) {
      receiveCompleted(wc, index, status);
    } else {
      sendCompleted(wc, index, status);
    }
  }

  private void sendCompleted(long wc, long index, int status) {
    int slot = SendQueue.slot(index, attributes.sendBlocks());
    int fault = faults[slot];
    if (status == WorkCompletionLayout.SUCCESS) {
      if (fault != 0) {
        sendError(index, slot, fault, 0);
      } else if (signalled[slot]) {
        sendQueue.requester(opcodes[slot] & 0xff, number, index, lengths[slot]);
      }
    } else if (status != WorkCompletionLayout.WR_FLUSH_ERR) {
      int vendor = RawMemory.getInt(wc + WorkCompletionLayout.VENDOR_OFFSET);
      sendError(index, slot, syndrome(status), vendor);
    } else if (signalled[slot]) {
      sendError(index, slot, Syndrome.FLUSHED, 0);
    }
  }

  private void sendError(long index, int slot, int syndrome, int vendor) {
    sendQueue.error(Cqe.REQUESTER_ERROR, syndrome, vendor, opcodes[slot] & 0xff, number, index);
    stalled = false;
    fail();
  }

  private void receiveCompleted(long wc, long index, int status) {
    PostedCompletionQueue queue = Objects.requireNonNull(receiveQueue);
    if (status != WorkCompletionLayout.SUCCESS) {
      int vendor = RawMemory.getInt(wc + WorkCompletionLayout.VENDOR_OFFSET);
      queue.error(Cqe.RESPONDER_ERROR, syndrome(status), vendor, 0, number, index);
      fail();
      return;
    }
    boolean immediate =
        (RawMemory.getInt(wc + WorkCompletionLayout.FLAGS_OFFSET) & WorkCompletionLayout.WITH_IMM)
            != 0;
    boolean write =
        RawMemory.getInt(wc + WorkCompletionLayout.OPCODE_OFFSET)
            == WorkCompletionLayout.RECEIVE_RDMA_WITH_IMM;
    int opcode = Cqe.RESPONDER_SEND;
    if (write) {
      opcode = Cqe.RESPONDER_WRITE_IMM;
    } else if (immediate) {
      opcode = Cqe.RESPONDER_SEND_IMM;
    }
    queue.responder(
        opcode,
        number,
        index,
        RawMemory.getInt(wc + WorkCompletionLayout.BYTE_COUNT_OFFSET),
        immediate ? BigEndian.getInt(wc + WorkCompletionLayout.IMMEDIATE_OFFSET) : 0);
  }

  private static int syndrome(int status) {
    return switch (status) {
      case WorkCompletionLayout.LOC_LEN_ERR -> Syndrome.LOCAL_LENGTH;
      case WorkCompletionLayout.LOC_PROT_ERR -> Syndrome.LOCAL_PROTECTION;
      case WorkCompletionLayout.WR_FLUSH_ERR -> Syndrome.FLUSHED;
      case WorkCompletionLayout.MW_BIND_ERR -> Syndrome.MEMORY_WINDOW_BIND;
      case WorkCompletionLayout.BAD_RESP_ERR -> Syndrome.BAD_RESPONSE;
      case WorkCompletionLayout.LOC_ACCESS_ERR -> Syndrome.LOCAL_ACCESS;
      case WorkCompletionLayout.REM_INV_REQ_ERR -> Syndrome.REMOTE_INVALID_REQUEST;
      case WorkCompletionLayout.REM_ACCESS_ERR -> Syndrome.REMOTE_ACCESS;
      case WorkCompletionLayout.REM_OP_ERR -> Syndrome.REMOTE_OPERATION;
      case WorkCompletionLayout.RETRY_EXC_ERR -> Syndrome.TRANSPORT_RETRY_EXCEEDED;
      case WorkCompletionLayout.RNR_RETRY_EXC_ERR -> Syndrome.RNR_RETRY_EXCEEDED;
      case WorkCompletionLayout.REM_ABORT_ERR -> Syndrome.REMOTE_ABORTED;
      default -> Syndrome.LOCAL_QP_OPERATION;
    };
  }

  /** Brings the queue pair to ERR, at the provider too. */
  void fail() {
    if (state != QueuePairState.ERR && state != QueuePairState.RESET) {
      connection.stop(QueuePairState.ERR);
      state = QueuePairState.ERR;
    }
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairAttributes attributes() {
    return attributes;
  }

  @Override
  public QueuePairState state() {
    if (!closed && connection.state() == QueuePairState.ERR) {
      state = QueuePairState.ERR;
    }
    return state;
  }

  @Override
  public QueuePairAddress address() {
    return new QueuePairAddress(
        device.context.address(), number, startPsn, device.context.port.mtuBytes());
  }

  @Override
  public long sendRingAddress() {
    return sendRing.address();
  }

  @Override
  public long receiveRingAddress() {
    return receiveRing == null ? 0 : receiveRing.address();
  }

  @Override
  public long recordAddress() {
    return record.address();
  }

  @Override
  public long doorbellAddress() {
    return page.address() + Doorbell.REGISTER_OFFSET;
  }

  @Override
  public int blueFlameBytes() {
    return 0;
  }

  private void require(QueuePairState to) {
    if (closed) {
      throw new HcaException("%s of %s is closed".formatted(this, device.context.name));
    }
    Transitions.require("%s of %s".formatted(this, device.context.name), state(), to);
  }

  @Override
  public void toInit(Set<AccessRight> rights) {
    require(QueuePairState.INIT);
    connection.init(rights);
    state = QueuePairState.INIT;
  }

  @Override
  public void toRtr(QueuePairAddress peer, ConnectionAttributes with) {
    require(QueuePairState.RTR);
    device.context.requireDefaultPartition(with);
    connection.readyToReceive(peer, with);
    state = QueuePairState.RTR;
  }

  @Override
  public void toRtr(ConnectionAttributes with) {
    throw new HcaException(
        "%s of %s has a peer; call toRtr(peer, attributes)".formatted(this, device.context.name),
        Errno.EINVAL);
  }

  @Override
  public void toRts(ConnectionAttributes with) {
    require(QueuePairState.RTS);
    device.context.requireDefaultPartition(with);
    connection.readyToSend(with, startPsn);
    state = QueuePairState.RTS;
  }

  @Override
  public void toError() {
    require(QueuePairState.ERR);
    connection.stop(QueuePairState.ERR);
    state = QueuePairState.ERR;
  }

  @Override
  public void toReset() {
    require(QueuePairState.RESET);
    connection.stop(QueuePairState.RESET);
    state = QueuePairState.RESET;
    resetCounters();
  }

  private void resetCounters() {
    resets = (resets + 1) & RESETS_MASK;
    sent = 0;
    received = 0;
    doorbellPending = false;
    stalled = false;
    RawMemory.putLong(record.address(), 0);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    VerbsFunctions.DESTROY_QP.require(DESTROY, queuePair);
    state = QueuePairState.RESET;
    domain.closed(this);
    sendQueue.unuse(this);
    if (receiveQueue != null) {
      receiveQueue.unuse(this);
    }
    device.freePage(page);
    ringRegion.close();
    sendRing.close();
    if (receiveRing != null) {
      receiveRing.close();
    }
    record.close();
  }

  @Override
  public String toString() {
    return "queue pair 0x%x".formatted(number);
  }
}
