package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An id of a program: one end of a connection, or a listener. */
final class CmId {
  /** How far an id has come. */
  enum State {
    IDLE,
    BOUND,
    ADDRESS_RESOLVED,
    ROUTE_RESOLVED,
    LISTENING,
    /** REQ or SIDR REQ sent. */
    REQUEST_SENT,
    REQUEST_RECEIVED,
    /** REP sent, RTU to come. */
    RESPONSE_SENT,
    RESPONSE_RECEIVED,
    ESTABLISHED,
    /** DREQ sent. */
    DISCONNECTING,
    DISCONNECT_RECEIVED,
    /** Rejected, timed out, or disconnected on both ends. */
    CLOSED
  }

  /** {@code IBV_MTU_4096}. */
  private static final int MTU = 5;

  static final int PARTITION = 0xffff;

  /** Hops of what leaves a host, as Linux has it for RoCE v2. */
  static final int HOP_LIMIT = 64;

  /** The Q_Key of datagrams ({@code RDMA_UDP_QKEY}). */
  static final int DATAGRAM_KEY = 0x0123_4567;

  /** Time that an acknowledgement may take: 4.096 us * 2^18, from a life of packets of 2^16. */
  private static final int ACK_TIMEOUT = 18;

  // enum ibv_qp_state
  private static final int INIT = 1;
  private static final int RTR = 2;
  private static final int RTS = 3;

  // enum ibv_qp_attr_mask
  private static final int STATE_MASK = 1;
  private static final int ACCESS = 1 << 3;
  private static final int PKEY_INDEX = 1 << 4;
  private static final int PORT = 1 << 5;
  private static final int QUEUE_KEY = 1 << 6;
  private static final int ADDRESS_VECTOR = 1 << 7;
  private static final int PATH_MTU = 1 << 8;
  private static final int TIMEOUT = 1 << 9;
  private static final int RETRY_COUNT = 1 << 10;
  private static final int RNR_RETRY = 1 << 11;
  private static final int RECEIVE_PSN = 1 << 12;
  private static final int READ_ATOMIC = 1 << 13;
  private static final int MIN_RNR_TIMER = 1 << 15;
  private static final int SEND_PSN = 1 << 16;
  private static final int DEST_READ_ATOMIC = 1 << 17;
  private static final int PEER_NUMBER = 1 << 20;

  private static final int REMOTE_WRITE = 1 << 1;
  private static final int REMOTE_READ = 1 << 2;
  private static final int REMOTE_ATOMIC = 1 << 3;

  final int number;
  final int portSpace;
  private final int queuePairType;

  /** Where packets to this end begin. */
  final int psn;

  CmChannel channel;

  /** {@code uid} of its program; of an end that has not accepted yet, 0. */
  long userHandle;

  State state = State.IDLE;
  @Nullable CmDevice device;
  CmAddress source;
  @Nullable CmAddress destination;
  boolean reuseAddress;
  int typeOfService;
  int ackTimeout = ACK_TIMEOUT;
  int eventsReported;

  /** Of a listener: requests that its program may still be shown, and those that wait for that. */
  int backlog;

  final ArrayDeque<CmId> waiting = new ArrayDeque<>();

  /** Memberships by their number. */
  final Map<Integer, CmMulticast> multicasts = new HashMap<>();

  /** The other end; of one that has sent a request and waits at a listener, null. */
  @Nullable CmId peer;

  /** Where a request waits. */
  @Nullable CmId awaited;

  /** What this end has said, and its private data. */
  CmParameters parameters = CmParameters.NONE;

  byte[] data = new byte[0];
  int vendor;
  int ece;

  // What its queue pair has to be like.
  int responderResources;
  int initiatorDepth;
  int retryCount;
  int rnrRetryCount;

  /** Nanoseconds of the clock at which the end gives up waiting for its peer. */
  long deadline;

  CmId(CmChannel channel, int number, int portSpace, int queuePairType, int psn) {
    this.channel = channel;
    this.number = number;
    this.portSpace = portSpace;
    this.queuePairType = queuePairType;
    this.psn = psn;
    this.source = CmAddress.any(CmAddress.INET, portSpace);
  }

  int queuePairType() {
    return queuePairType;
  }

  boolean isDatagram() {
    return queuePairType == CmAbi.QPT_UD;
  }

  void require(boolean holds) throws ErrnoException {
    ErrnoException.require(holds, Errno.EINVAL);
  }

  CmDevice requireDevice() throws ErrnoException {
    CmDevice of = device;
    if (of == null) {
      throw new ErrnoException(Errno.EINVAL);
    }
    return of;
  }

  /** Private data that a request of this id may have. */
  int requestData() {
    int most = isDatagram() ? CmAbi.SIDR_REQ_DATA : CmAbi.REQ_DATA;
    return source.isIb() ? most : most - CmAbi.IP_HEADER;
  }

  /** {@code struct ib_uverbs_ah_attr} of the way to the peer. */
  void writeRoute(Struct to, int at) {
    CmAddress there = destination;
    if (there != null) {
      writeRoute(to, at, there.gid());
    }
  }

  /** The same to another GID. */
  void writeRoute(Struct to, int at, Gid there) {
    CmDevice from = device;
    if (from == null) {
      return;
    }
    to.be64(at, there.high())
        .be64(at + 8, there.low())
        .u8(at + 20, Math.max(0, from.indexOf(source.gid())))
        .u8(at + 21, HOP_LIMIT)
        .u8(at + 22, typeOfService)
        .u8(at + 29, 1)
        .u8(at + 30, 1);
  }

  /**
   * {@code struct ib_uverbs_qp_attr} for a transition of its queue pair.
   *
   * @throws ErrnoException EINVAL where the connection is not that far
   */
  Struct queuePairAttributes(int next) throws ErrnoException {
    requireDevice();
    Struct to = new Struct(144).u32(4, next);
    if (isDatagram()) {
      // Of a datagram id, the same for each state.
      return to.u32(0, STATE_MASK | PKEY_INDEX | PORT | QUEUE_KEY)
          .u32(20, source.isIb() ? parameters.queueKey() : DATAGRAM_KEY)
          .u8(133, 1);
    }
    switch (next) {
      case INIT -> {
        boolean reads = responderResources > 0;
        to.u32(0, STATE_MASK | PKEY_INDEX | PORT | ACCESS)
            .u32(36, isRequested() ? REMOTE_WRITE | (reads ? REMOTE_READ | REMOTE_ATOMIC : 0) : 0)
            .u8(133, 1);
      }
      case RTR -> {
        CmId other = requirePeer();
        to.u32(0, STATE_MASK | ADDRESS_VECTOR | PATH_MTU | PEER_NUMBER | RECEIVE_PSN);
        to.u32(0, to.u32(0) | DEST_READ_ATOMIC | MIN_RNR_TIMER)
            .u32(12, MTU)
            .u32(24, psn)
            .u32(32, other.parameters.queuePair())
            .u8(131, responderResources);
        writeRoute(to, 40);
      }
      case RTS -> {
        CmId other = requirePeer();
        to.u32(0, STATE_MASK | SEND_PSN | TIMEOUT | RETRY_COUNT | RNR_RETRY | READ_ATOMIC)
            .u32(28, other.psn)
            .u8(130, initiatorDepth)
            .u8(134, ackTimeout)
            .u8(135, retryCount)
            .u8(136, rnrRetryCount);
      }
      default -> throw new ErrnoException(Errno.EINVAL);
    }
    return to;
  }

  private boolean isRequested() {
    return peer != null || state == State.REQUEST_SENT;
  }

  private CmId requirePeer() throws ErrnoException {
    CmId other = peer;
    boolean near =
        switch (state) {
          case REQUEST_RECEIVED, RESPONSE_SENT, RESPONSE_RECEIVED, ESTABLISHED -> true;
          default -> false;
        };
    if (other == null || !near) {
      throw new ErrnoException(Errno.EINVAL);
    }
    return other;
  }

  @Override
  public String toString() {
    return "id %d of %d, %s".formatted(number, channel.pid(), state);
  }
}
