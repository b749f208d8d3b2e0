package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.SharedReceiveCommand;
import dev.doorbell.verbs.device.VerbsDomain;

/** A shared receive queue that firmware created in our memory. */
final class DevxSharedReceiveQueue extends SharedDevxQueue implements SharedReceiveQueue {
  private final SharedReceiveQueueAttributes attributes;

  DevxSharedReceiveQueue(
      DevxDevice device,
      VerbsDomain domain,
      SharedReceiveQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    super(device, domain, ring, record, create(domain, attributes, ring, record));
    this.attributes = attributes;
  }

  private static DevxObject create(
      VerbsDomain domain,
      SharedReceiveQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    return DevxObject.create(
        domain.context,
        "a shared receive queue of %d entries".formatted(attributes.entries()),
        SharedReceiveCommand.create(
            Mlx5Objects.domainNumber(domain.pd),
            Integer.numberOfTrailingZeros(attributes.entries()),
            Integer.numberOfTrailingZeros(attributes.stride()),
            ring.start(),
            record.start()),
        PrmBuffer.HEADER_BYTES);
  }

  @Override
  public SharedReceiveQueueAttributes attributes() {
    return attributes;
  }

  @Override
  public void armLimit(int limit) {
    if (limit < 0 || limit > attributes.entries()) {
      throw new HcaException(
          "the limit of %s is %d; it must be from 0 to its %d entries"
              .formatted(this, limit, attributes.entries()),
          Errno.EINVAL);
    }
    object.modify(
        "set the limit of a shared receive queue",
        SharedReceiveCommand.limit(number(), limit),
        PrmBuffer.HEADER_BYTES);
  }

  @Override
  String inUse(int queuePairs) {
    return "cannot close %s of %s: %d queue pair(s) still take from it; close them first"
        .formatted(this, device.context.name, queuePairs);
  }

  @Override
  public String toString() {
    return "shared receive queue 0x%x".formatted(number());
  }
}
