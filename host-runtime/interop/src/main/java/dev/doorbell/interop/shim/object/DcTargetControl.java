package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.queuepair.SoftDcTarget;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A target of dynamic connections as verbs see it: a queue pair that goes from RESET by INIT to
 * RTR, where the HCA makes the target and gives it its number.
 */
public final class DcTargetControl extends QueuePairSettings {
  private final SoftProtectionDomain domain;
  private final SharedReceiveQueue receives;
  private final CompletionQueue completions;
  private final long accessKey;
  private final int userIndex;
  private int state = UverbsAbi.STATE_RESET;
  private @Nullable DcTarget target;

  public DcTargetControl(
      SoftProtectionDomain domain,
      SharedReceiveQueue receives,
      CompletionQueue completions,
      long accessKey,
      int userIndex) {
    this.domain = domain;
    this.receives = receives;
    this.completions = completions;
    this.accessKey = accessKey;
    this.userIndex = userIndex;
  }

  @Override
  public int state() {
    return state;
  }

  /** The target; null before RTR. */
  public @Nullable DcTarget target() {
    return target;
  }

  @Override
  public void transition(int next, ServedDevice device) throws ErrnoException {
    if (state == UverbsAbi.STATE_INIT && next == UverbsAbi.STATE_RTR) {
      ErrnoException.require(isMtu(), Errno.EINVAL);
      create();
    } else {
      ErrnoException.require(
          next == UverbsAbi.STATE_INIT
              && (state == UverbsAbi.STATE_RESET || state == UverbsAbi.STATE_INIT),
          Errno.EINVAL);
    }
    state = next;
  }

  private void create() {
    Set<AccessRight> rights = EnumSet.copyOf(rights(access | UverbsAbi.ACCESS_LOCAL_WRITE));
    SoftDcTarget created =
        domain.createDcTarget(
            new DcTargetAttributes(
                accessKey, receives, completions, rights, mtu(), minRnrTimer & 0x1f));
    created.userIndex = userIndex;
    target = created;
  }

  void close() {
    if (target != null) {
      target.close();
    }
  }
}
