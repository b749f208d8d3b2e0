package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import java.util.EnumSet;
import java.util.Set;

/**
 * The attributes of what verbs call a queue pair, which several commands set one by one. Numbers
 * are those of {@code struct ib_uverbs_modify_qp}.
 */
public abstract sealed class QueuePairSettings permits QueuePairControl, DcTargetControl {
  private static final int SMALLEST_MTU = 128;
  private static final int PORT_MTU_CODE = 5;

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
  public int gidIndex;
  public int serviceLevel;
  public long gidHigh;
  public long gidLow;
  public boolean hasRoute;

  /** The capabilities that it was created with: {@code struct ib_uverbs_qp_cap}. */
  public Struct capabilities = new Struct(20);

  public boolean signalsAll;

  public abstract int state();

  /**
   * Goes to {@code next} with the attributes that have been set.
   *
   * @param device of the queue pair
   * @throws ErrnoException for a transition that verbs do not have
   */
  public abstract void transition(int next, ServedDevice device) throws ErrnoException;

  /** True when the MTU's code is one. */
  final boolean isMtu() {
    return mtuCode >= 1 && mtuCode <= 5;
  }

  /** Code of the MTU that queries answer: the port's, 4096 bytes, until there is a path. */
  public final int queriedMtuCode() {
    return isMtu() ? mtuCode : PORT_MTU_CODE;
  }

  /** Path MTU in bytes. */
  final int mtu() {
    return SMALLEST_MTU << mtuCode;
  }

  /** {@code IBV_ACCESS_*} as rights. */
  public static Set<AccessRight> rights(int flags) {
    Set<AccessRight> rights = EnumSet.noneOf(AccessRight.class);
    for (AccessRight right : AccessRight.values()) {
      int bit =
          switch (right) {
            case LOCAL_WRITE -> UverbsAbi.ACCESS_LOCAL_WRITE;
            case REMOTE_WRITE -> UverbsAbi.ACCESS_REMOTE_WRITE;
            case REMOTE_READ -> UverbsAbi.ACCESS_REMOTE_READ;
            case REMOTE_ATOMIC -> UverbsAbi.ACCESS_REMOTE_ATOMIC;
            case WINDOW_BIND -> UverbsAbi.ACCESS_MW_BIND;
            case RELAXED_ORDERING -> UverbsAbi.ACCESS_RELAXED_ORDERING;
            case STRICT_ORDERING -> 0;
          };
      if ((flags & bit) != 0) {
        rights.add(right);
      }
    }
    return rights;
  }
}
