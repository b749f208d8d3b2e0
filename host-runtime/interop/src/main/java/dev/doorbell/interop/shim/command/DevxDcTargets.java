package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.generated.DcTargetContext;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.DcTargetControl;
import dev.doorbell.interop.shim.object.Resource;

/** Targets of dynamic connections by firmware commands. */
final class DevxDcTargets {
  private DevxDcTargets() {}

  /** CREATE_DCT: the target is ready for connections. */
  static Resource.Dct create(ClientContext context, PrmBuffer in) throws ErrnoException {
    ErrnoException.require(
        in.size() >= DcTargetContext.BYTES && in.get(DcTargetContext.OFFLOAD_TYPE) == 0,
        Errno.EINVAL);
    Resource.Pd pd = DevxObjects.domain(context, in.get(DcTargetContext.PD));
    Resource.Srq shared = DevxObjects.sharedQueue(context, in.get(DcTargetContext.SRQN));
    Resource.Cq completions = DevxObjects.completionQueue(context, in.get(DcTargetContext.CQN));
    DcTargetControl control =
        new DcTargetControl(
            pd.domain(),
            shared.queue,
            completions.queue,
            in.getLong(DcTargetContext.ACCESS_KEY_OFFSET),
            in.get(DcTargetContext.USER_INDEX));
    control.access =
        UverbsAbi.ACCESS_LOCAL_WRITE
            | DevxObjects.remoteAccess(
                in, DcTargetContext.RWE, DcTargetContext.RRE, DcTargetContext.RAE);
    control.mtuCode = in.get(DcTargetContext.MTU);
    control.minRnrTimer = in.get(DcTargetContext.MIN_RNR_NAK);
    control.hopLimit = in.get(DcTargetContext.HOP_LIMIT);
    control.transition(UverbsAbi.STATE_INIT, context.device());
    control.transition(UverbsAbi.STATE_RTR, context.device());
    return new Resource.Dct(control, Resource.DEVX);
  }

  /** DRAIN_DCT. What is connected stays; no event follows. */
  static void drain(Resource.Dct dct) throws ErrnoException {
    target(dct).drain();
  }

  private static DcTarget target(Resource.Dct dct) throws ErrnoException {
    return ErrnoException.present(dct.control.target(), Errno.EINVAL);
  }

  static void query(Resource.Dct dct, PrmBuffer out) throws ErrnoException {
    ErrnoException.require(out.size() >= DcTargetContext.ANSWER_BYTES, Errno.EINVAL);
    DcTargetControl control = dct.control;
    DcTarget target = target(dct);
    var with = target.attributes();
    out.put(
            DcTargetContext.STATE,
            target.isDraining() ? DcTargetContext.DRAINING : DcTargetContext.ACTIVE)
        .put(DcTargetContext.CQN, with.completions().number())
        .put(DcTargetContext.SRQN, with.receives().number())
        .put(DcTargetContext.RWE, (control.access & UverbsAbi.ACCESS_REMOTE_WRITE) != 0)
        .put(DcTargetContext.RRE, (control.access & UverbsAbi.ACCESS_REMOTE_READ) != 0)
        .put(DcTargetContext.RAE, (control.access & UverbsAbi.ACCESS_REMOTE_ATOMIC) != 0)
        .put(DcTargetContext.MIN_RNR_NAK, with.minRnrTimer())
        .putLong(DcTargetContext.ACCESS_KEY_OFFSET, with.accessKey())
        .putTruncated(DcTargetContext.MTU, control.mtuCode)
        .putTruncated(DcTargetContext.HOP_LIMIT, control.hopLimit)
        .put(DcTargetContext.PORT, 1)
        .put(
            DcTargetContext.KEY_VIOLATIONS,
            (int) Math.min(Integer.MAX_VALUE, target.keyViolations()));
  }
}
