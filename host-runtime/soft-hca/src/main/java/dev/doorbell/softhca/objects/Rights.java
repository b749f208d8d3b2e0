package dev.doorbell.softhca.objects;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.softhca.device.HcaServices.HcaErrno;
import java.util.Set;

/** Access rights as bits, for checks on the data path. */
public final class Rights {
  public static final int LOCAL_WRITE = 1;
  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_READ = 4;
  public static final int REMOTE_ATOMIC = 8;
  public static final int WINDOW_BIND = 16;

  private Rights() {}

  public static int bits(Set<AccessRight> rights) {
    int bits = 0;
    for (AccessRight right : rights) {
      bits |=
          switch (right) {
            case LOCAL_WRITE -> LOCAL_WRITE;
            case REMOTE_WRITE -> REMOTE_WRITE;
            case REMOTE_READ -> REMOTE_READ;
            case REMOTE_ATOMIC -> REMOTE_ATOMIC;
            case WINDOW_BIND -> WINDOW_BIND;
            case RELAXED_ORDERING, STRICT_ORDERING -> 0;
          };
    }
    return bits;
  }

  /** Refuses rights of a region that contradict each other. */
  public static void checkRegion(Set<AccessRight> rights) {
    boolean written =
        rights.contains(AccessRight.REMOTE_WRITE) || rights.contains(AccessRight.REMOTE_ATOMIC);
    if (written && !rights.contains(AccessRight.LOCAL_WRITE)) {
      throw new HcaException(
          "cannot register memory with %s: peers may only write where the local side may; add LOCAL_WRITE"
              .formatted(rights),
          HcaErrno.EINVAL);
    }
  }
}
