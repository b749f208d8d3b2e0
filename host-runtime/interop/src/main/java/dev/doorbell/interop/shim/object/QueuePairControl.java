package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.softhca.DriverAccess;
import java.util.EnumSet;
import java.util.Set;

/**
 * The attributes of a queue pair, which several commands set one by one, and its state transitions.
 * Numbers are those of {@code struct ib_uverbs_modify_qp}.
 */
public final class QueuePairControl {
  // enum ibv_qp_state
  public static final int RESET = 0;
  public static final int INIT = 1;
  public static final int RTR = 2;
  public static final int RTS = 3;
  public static final int ERR = 6;

  private static final int SMALLEST_MTU = 128;
  private static final int MAX_READS = 16;

  private final QueuePair queuePair;
  private final Transport transport;

  public int access;
  public int queueKey;
  public int receivePsn;
  public int sendPsn;
  public int peerNumber;
  public int mtuCode;
  public int readAtomic = 1;
  public int destReadAtomic = 1;
  public int minRnrTimer;
  public int timeout;
  public int retryCount = 7;
  public int rnrRetry = 7;
  public int trafficClass;
  public int hopLimit;
  public int serviceLevel;
  public long gidHigh;
  public long gidLow;
  public boolean hasRoute;

  /** The capabilities that it was created with: {@code struct ib_uverbs_qp_cap}. */
  public Struct capabilities = new Struct(20);

  public boolean signalsAll;

  public QueuePairControl(QueuePair queuePair, Transport transport) {
    this.queuePair = queuePair;
    this.transport = transport;
  }

  /** The current state; a queue pair may have gone to ERR on its own. */
  public int state() {
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
   * @param device of the queue pair
   * @throws ErrnoException for a transition that verbs do not have
   */
  public void transition(int next, ServedDevice device) throws ErrnoException {
    int from = state();
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
      throw new ErrnoException(Errno.EINVAL);
    }
  }

  private void connect(ServedDevice device) throws ErrnoException {
    DriverAccess.allow(queuePair, rights(access));
    if (transport == Transport.UD) {
      queuePair.toRtr(attributes());
      return;
    }
    ServedDevice peer = device.withGid(gidHigh, gidLow);
    if (!hasRoute || mtuCode < 1 || mtuCode > 5 || peer == null) {
      throw new ErrnoException(Errno.EINVAL);
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
        legalReads(readAtomic),
        legalReads(destReadAtomic),
        trafficClass,
        ConnectionAttributes.DEFAULT_PARTITION,
        queueKey);
  }

  /** READs outstanding; programs that issue none may ask for 0. */
  private static int legalReads(int reads) {
    return Math.clamp(reads, 1, MAX_READS);
  }

  /** {@code IBV_ACCESS_*} as rights. */
  public static Set<AccessRight> rights(int flags) {
    Set<AccessRight> rights = EnumSet.noneOf(AccessRight.class);
    for (AccessRight right : AccessRight.values()) {
      int bit =
          switch (right) {
            case LOCAL_WRITE -> 1;
            case REMOTE_WRITE -> 1 << 1;
            case REMOTE_READ -> 1 << 2;
            case REMOTE_ATOMIC -> 1 << 3;
            case WINDOW_BIND -> 1 << 4;
            case RELAXED_ORDERING -> 1 << 20;
            case STRICT_ORDERING -> 0;
          };
      if ((flags & bit) != 0) {
        rights.add(right);
      }
    }
    return rights;
  }
}
