package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An id of a program: one end of a connection, or a listener. */
final class CmId {
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

  final int number;
  final int portSpace;
  private final int queuePairType;

  /** The first packet sequence number to this end. */
  final int psn;

  CmChannel channel;

  /** {@code uid} of its program; of an end that has not accepted yet, 0. */
  long userHandle;

  State state = State.IDLE;
  ConnectionManager.@Nullable Device device;
  CmAddress source;
  @Nullable CmAddress destination;
  boolean reuseAddress;
  int typeOfService;
  int ackTimeout = ACK_TIMEOUT;
  int eventsReported;

  /** For a listener: requests that its program may still be shown, and those that wait for that. */
  int backlog;

  final ArrayDeque<CmId> waiting = new ArrayDeque<>();

  final Map<Integer, Multicast> multicasts = new HashMap<>();

  /** The other end; of one that has sent a request and waits at a listener, null. */
  @Nullable CmId peer;

  /** The listener at which a request waits. */
  @Nullable CmId awaited;

  /** Parameters and private data that this end has sent. */
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
    return queuePairType == UverbsAbi.TYPE_UD;
  }

  void require(boolean holds) throws ErrnoException {
    ErrnoException.require(holds, Errno.EINVAL);
  }

  ConnectionManager.Device requireDevice() throws ErrnoException {
    return ErrnoException.present(device, Errno.EINVAL);
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
    ConnectionManager.Device from = device;
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
      return to.u32(
              0,
              UverbsAbi.QP_STATE | UverbsAbi.QP_PKEY_INDEX | UverbsAbi.QP_PORT | UverbsAbi.QP_QKEY)
          .u32(20, source.isIb() ? parameters.queueKey() : DATAGRAM_KEY)
          .u8(133, 1);
    }
    switch (next) {
      case UverbsAbi.STATE_INIT -> {
        boolean reads = responderResources > 0;
        to.u32(
                0,
                UverbsAbi.QP_STATE
                    | UverbsAbi.QP_PKEY_INDEX
                    | UverbsAbi.QP_PORT
                    | UverbsAbi.QP_ACCESS_FLAGS)
            .u32(
                36,
                isRequested()
                    ? UverbsAbi.ACCESS_REMOTE_WRITE
                        | (reads
                            ? UverbsAbi.ACCESS_REMOTE_READ | UverbsAbi.ACCESS_REMOTE_ATOMIC
                            : 0)
                    : 0)
            .u8(133, 1);
      }
      case UverbsAbi.STATE_RTR -> {
        CmId other = requirePeer();
        to.u32(
            0,
            UverbsAbi.QP_STATE
                | UverbsAbi.QP_AV
                | UverbsAbi.QP_PATH_MTU
                | UverbsAbi.QP_DEST_QPN
                | UverbsAbi.QP_RQ_PSN);
        to.u32(0, to.u32(0) | UverbsAbi.QP_MAX_DEST_RD_ATOMIC | UverbsAbi.QP_MIN_RNR_TIMER)
            .u32(12, MTU)
            .u32(24, psn)
            .u32(32, other.parameters.queuePair())
            .u8(131, responderResources);
        writeRoute(to, 40);
      }
      case UverbsAbi.STATE_RTS -> {
        CmId other = requirePeer();
        to.u32(
                0,
                UverbsAbi.QP_STATE
                    | UverbsAbi.QP_SQ_PSN
                    | UverbsAbi.QP_TIMEOUT
                    | UverbsAbi.QP_RETRY_CNT
                    | UverbsAbi.QP_RNR_RETRY
                    | UverbsAbi.QP_MAX_QP_RD_ATOMIC)
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
    boolean near =
        switch (state) {
          case REQUEST_RECEIVED, RESPONSE_SENT, RESPONSE_RECEIVED, ESTABLISHED -> true;
          default -> false;
        };
    return ErrnoException.present(near ? peer : null, Errno.EINVAL);
  }

  @Override
  public String toString() {
    return "id %d of %d, %s".formatted(number, channel.pid(), state);
  }

  /**
   * The membership of an id in a multicast group. Groups of RoCE need no manager: joining succeeds.
   */
  static final class Multicast {
    /** {@code IB_MULTICAST_QPN}. */
    private static final int QUEUE_PAIR = 0xff_ffff;

    final int number;
    final CmId id;
    private final long userHandle;
    private final Gid group;
    int eventsReported;

    Multicast(int number, CmId id, long userHandle, Gid group) {
      this.number = number;
      this.id = id;
      this.userHandle = userHandle;
      this.group = group;
    }

    /** Names the membership in place of its id, and the group: {@code struct rdma_ucm_ud_param}. */
    void write(Struct event, int parameters) {
      event
          .u64(0, userHandle)
          .u32(8, number)
          .u32(parameters, QUEUE_PAIR)
          .u32(parameters + 4, CmId.DATAGRAM_KEY);
      id.writeRoute(event, parameters + 8, group);
    }
  }
}
