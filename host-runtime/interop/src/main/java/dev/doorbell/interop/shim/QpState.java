package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.softhca.DriverAccess;
import java.util.EnumSet;
import java.util.Set;

/**
 * The attributes of a queue pair, which arrive one by one in several commands, and the transitions
 * that they lead to. Numbers are those of {@code struct ib_uverbs_modify_qp}.
 */
final class QpState {
  // enum ibv_qp_state
  static final int RESET = 0;
  static final int INIT = 1;
  static final int RTR = 2;
  static final int RTS = 3;
  static final int ERR = 6;

  private static final int SMALLEST_MTU = 128;
  private static final int MOST_READS = 16;

  private final QueuePair queuePair;
  private final Transport transport;

  int access;
  int queueKey;
  int receivePsn;
  int sendPsn;
  int peerNumber;
  int mtuCode;
  int readAtomic = 1;
  int destReadAtomic = 1;
  int minRnrTimer;
  int timeout;
  int retryCount = 7;
  int rnrRetry = 7;
  int trafficClass;
  int hopLimit;
  int gidIndex;
  int serviceLevel;
  long gidHigh;
  long gidLow;
  boolean hasRoute;

  /** What it was made with: {@code struct ib_uverbs_qp_cap}. */
  Struct capabilities = new Struct(20);

  boolean signalsAll;

  QpState(QueuePair queuePair, Transport transport) {
    this.queuePair = queuePair;
    this.transport = transport;
  }

  /** The state now: a queue pair goes to ERR by itself. */
  int now() {
    return switch (queuePair.state()) {
      case RESET -> RESET;
      case INIT -> INIT;
      case RTR -> RTR;
      case RTS -> RTS;
      case ERR -> ERR;
    };
  }

  /**
   * Goes to {@code next} with the attributes that have been set.
   *
   * @throws Refusal for a transition that verbs do not know
   */
  void go(int next, Device device) throws Refusal {
    int from = now();
    if (next == RESET) {
      queuePair.toReset();
    } else if (next == ERR && from != RESET) {
      queuePair.toError();
    } else if (from == RESET && next == INIT) {
      queuePair.toInit(rights(access));
    } else if (from == INIT && next == INIT) {
      DriverAccess.allow(queuePair, rights(access));
    } else if (from == INIT && next == RTR) {
      connect(device);
    } else if (from == RTR && next == RTS) {
      DriverAccess.startPsn(queuePair, sendPsn);
      DriverAccess.allow(queuePair, rights(access));
      queuePair.toRts(attributes());
    } else if (from == RTS && next == RTS) {
      DriverAccess.allow(queuePair, rights(access));
      DriverAccess.change(queuePair, attributes());
    } else {
      throw new Refusal(Errno.EINVAL);
    }
  }

  private void connect(Device device) throws Refusal {
    DriverAccess.allow(queuePair, rights(access));
    if (transport == Transport.UD) {
      queuePair.toRtr(attributes());
      return;
    }
    Device peer = device.withGid(gidHigh, gidLow);
    if (!hasRoute || mtuCode < 1 || mtuCode > 5 || peer == null) {
      throw new Refusal(Errno.EINVAL);
    }
    queuePair.toRtr(
        new QueuePairAddress(
            peer.name(), peerNumber & 0xff_ffff, receivePsn & 0xff_ffff, SMALLEST_MTU << mtuCode),
        attributes());
  }

  private ConnectionAttributes attributes() {
    return new ConnectionAttributes(
        timeout,
        retryCount,
        rnrRetry,
        minRnrTimer,
        atLeastOne(readAtomic),
        atLeastOne(destReadAtomic),
        trafficClass,
        ConnectionAttributes.DEFAULT_PARTITION,
        queueKey);
  }

  /** An HCA has room for one even where a program wants none. */
  private static int atLeastOne(int reads) {
    return Math.min(MOST_READS, Math.max(1, reads));
  }

  boolean isReady() {
    return queuePair.state() == QueuePairState.RTS;
  }

  /** {@code IBV_ACCESS_*} as rights. */
  static Set<AccessRight> rights(int flags) {
    Set<AccessRight> rights = EnumSet.noneOf(AccessRight.class);
    for (AccessRight right : AccessRight.values()) {
      int bit =
          switch (right) {
            case LOCAL_WRITE -> 1;
            case REMOTE_WRITE -> 1 << 1;
            case REMOTE_READ -> 1 << 2;
            case REMOTE_ATOMIC -> 1 << 3;
            case RELAXED_ORDERING -> 1 << 20;
          };
      if ((flags & bit) != 0) {
        rights.add(right);
      }
    }
    return rights;
  }
}
