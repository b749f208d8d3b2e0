package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.mlx5.prm.DcTargetCommand;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.generated.DcTargetContext;
import dev.doorbell.verbs.device.PortInfo;
import dev.doorbell.verbs.device.VerbsDomain;
import java.util.Set;

/** A target of dynamic connections that firmware created. */
final class DevxDcTarget implements DcTarget {
  private final VerbsDomain domain;
  private final DcTargetAttributes attributes;
  private final DevxSharedReceiveQueue receives;
  private final DevxCompletionQueue completions;
  private final DevxObject object;
  private boolean closed;

  DevxDcTarget(
      DevxDevice device,
      VerbsDomain domain,
      DcTargetAttributes attributes,
      DevxSharedReceiveQueue receives,
      DevxCompletionQueue completions) {
    this.domain = domain;
    this.attributes = attributes;
    this.receives = receives;
    this.completions = completions;
    Set<AccessRight> rights = attributes.rights();
    boolean ethernet = device.context.port.ethernet();
    this.object =
        DevxObject.create(
            device.context,
            "a DC target",
            DcTargetCommand.create(
                new DcTargetCommand.Shape(
                    Mlx5Objects.domainNumber(domain.pd),
                    receives.number(),
                    completions.number(),
                    attributes.accessKey(),
                    PortInfo.mtuCode(attributes.mtu()),
                    attributes.minRnrTimer(),
                    rights.contains(AccessRight.REMOTE_READ),
                    rights.contains(AccessRight.REMOTE_WRITE),
                    rights.contains(AccessRight.REMOTE_ATOMIC),
                    device.context.port.number(),
                    ethernet ? device.context.gid.entry().index() : 0,
                    DevxQueuePair.HOP_LIMIT)),
            PrmBuffer.HEADER_BYTES);
    receives.use();
    completions.use();
  }

  private PrmBuffer query() {
    return object.query(
        "query a DC target", DcTargetCommand.query(number()), DcTargetContext.ANSWER_BYTES);
  }

  @Override
  public int number() {
    return object.number();
  }

  @Override
  public DcTargetAttributes attributes() {
    return attributes;
  }

  @Override
  public long keyViolations() {
    return Integer.toUnsignedLong(query().get(DcTargetContext.KEY_VIOLATIONS));
  }

  @Override
  public boolean isDraining() {
    return query().get(DcTargetContext.STATE) != DcTargetContext.ACTIVE;
  }

  @Override
  public void drain() {
    object.modify("drain a DC target", DcTargetCommand.drain(number()), PrmBuffer.HEADER_BYTES);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    object.close();
    closed = true;
    receives.unuse();
    completions.unuse();
    domain.closed(this);
  }

  @Override
  public String toString() {
    return "DC target 0x%x".formatted(number());
  }
}
