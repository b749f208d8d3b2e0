package dev.doorbell.verbs;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.device.PeerAddress;
import dev.doorbell.verbs.device.PortInfo;
import dev.doorbell.verbs.devx.DevxDomain;
import dev.doorbell.verbs.generated.verbs.Verbs;
import dev.doorbell.verbs.generated.verbs.ibv_ah_attr;
import dev.doorbell.verbs.generated.verbs.ibv_gid;
import dev.doorbell.verbs.generated.verbs.ibv_global_route;
import dev.doorbell.verbs.generated.verbs.ibv_qp_attr;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.function.Consumer;

/** The state machine of an {@code ibv_qp}: {@code ibv_modify_qp}. */
final class VerbsConnection {
  /** {@code struct ibv_qp.qp_num}. */
  static final int NUMBER_OFFSET = 52;

  private static final int HOP_LIMIT = 64;
  private static final NativeFunction MODIFY_QP =
      NativeFunction.of(Libraries.VERBS, "ibv_modify_qp", Verbs.ibv_modify_qp$descriptor());

  private final DeviceContext context;
  private final MemorySegment queuePair;

  VerbsConnection(DeviceContext context, MemorySegment queuePair) {
    this.context = context;
    this.queuePair = queuePair;
  }

  void init(Set<AccessRight> rights) {
    modify(
        QueuePairState.INIT,
        Verbs.IBV_QP_PKEY_INDEX() | Verbs.IBV_QP_PORT() | Verbs.IBV_QP_ACCESS_FLAGS(),
        attributes -> {
          ibv_qp_attr.port_num(attributes, (byte) context.port.number());
          ibv_qp_attr.qp_access_flags(attributes, DevxDomain.accessBits(rights));
        });
  }

  void readyToReceive(QueuePairAddress peer, ConnectionAttributes connection) {
    PeerAddress to = PeerAddress.of(peer, context);
    int mtu = Math.min(peer.mtu(), context.port.mtuBytes());
    modify(
        QueuePairState.RTR,
        Verbs.IBV_QP_AV()
            | Verbs.IBV_QP_PATH_MTU()
            | Verbs.IBV_QP_DEST_QPN()
            | Verbs.IBV_QP_RQ_PSN()
            | Verbs.IBV_QP_MAX_DEST_RD_ATOMIC()
            | Verbs.IBV_QP_MIN_RNR_TIMER(),
        attributes -> {
          ibv_qp_attr.path_mtu(attributes, PortInfo.mtuCode(mtu));
          ibv_qp_attr.dest_qp_num(attributes, peer.number());
          ibv_qp_attr.rq_psn(attributes, peer.startPsn());
          ibv_qp_attr.max_dest_rd_atomic(attributes, (byte) connection.maxDestReadAtomic());
          ibv_qp_attr.min_rnr_timer(attributes, (byte) connection.minRnrTimer());
          address(ibv_qp_attr.ah_attr(attributes), to, connection.trafficClass());
        });
  }

  private void address(MemorySegment handle, PeerAddress to, int trafficClass) {
    ibv_ah_attr.port_num(handle, (byte) context.port.number());
    ibv_ah_attr.dlid(handle, (short) to.lid());
    if (context.port.ethernet()) {
      ibv_ah_attr.is_global(handle, (byte) 1);
      MemorySegment route = ibv_ah_attr.grh(handle);
      ibv_global_route.sgid_index(route, (byte) context.gid.entry().index());
      ibv_global_route.hop_limit(route, (byte) HOP_LIMIT);
      ibv_global_route.traffic_class(route, (byte) trafficClass);
      to.gid().write(ibv_gid.raw(ibv_global_route.dgid(route)).address());
    }
  }

  void readyToSend(ConnectionAttributes connection, int psn) {
    modify(
        QueuePairState.RTS,
        Verbs.IBV_QP_SQ_PSN()
            | Verbs.IBV_QP_TIMEOUT()
            | Verbs.IBV_QP_RETRY_CNT()
            | Verbs.IBV_QP_RNR_RETRY()
            | Verbs.IBV_QP_MAX_QP_RD_ATOMIC(),
        attributes -> {
          ibv_qp_attr.sq_psn(attributes, psn);
          ibv_qp_attr.timeout(attributes, (byte) connection.ackTimeout());
          ibv_qp_attr.retry_cnt(attributes, (byte) connection.retryCount());
          ibv_qp_attr.rnr_retry(attributes, (byte) connection.rnrRetry());
          ibv_qp_attr.max_rd_atomic(attributes, (byte) connection.maxReadAtomic());
        });
  }

  private void modify(QueuePairState to, int mask, Consumer<MemorySegment> fill) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ibv_qp_attr.layout());
      ibv_qp_attr.qp_state(attributes, code(to));
      fill.accept(attributes);
      MODIFY_QP.require(
          new Failure(
              "bring the queue pair to " + to,
              errno ->
                  to == QueuePairState.RTR
                      ? "check the peer's GID and that %s has a route to it; this end is %s"
                          .formatted(context.name, context.describe())
                      : "check the attributes against what 'ibv_devinfo -v' says"),
          queuePair,
          attributes,
          mask | Verbs.IBV_QP_STATE());
    }
  }

  /** The value of {@code enum ibv_qp_state}. */
  private static int code(QueuePairState state) {
    return switch (state) {
      case RESET -> 0;
      case INIT -> 1;
      case RTR -> 2;
      case RTS -> 3;
      case ERR -> 6;
    };
  }
}
