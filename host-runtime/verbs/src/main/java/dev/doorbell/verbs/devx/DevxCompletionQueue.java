package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.prm.CompletionQueueCommand;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.verbs.device.VerbsDomain;

/** A completion queue that firmware created in our memory. */
final class DevxCompletionQueue extends SharedDevxQueue implements CompletionQueue {
  private final CompletionQueueAttributes attributes;

  DevxCompletionQueue(
      DevxDevice device,
      VerbsDomain domain,
      CompletionQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    super(device, domain, ring, record, create(device, attributes, ring, record));
    this.attributes = attributes;
  }

  private static DevxObject create(
      DevxDevice device,
      CompletionQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    // By copy, because the CPU may not be able to address GPU memory.
    ring.memory().fill(0, (long) attributes.entries() * Cqe.BYTES, Cqe.INITIAL_FILL);
    return DevxObject.create(
        device.context,
        "a completion queue of %d entries".formatted(attributes.entries()),
        CompletionQueueCommand.create(
            Integer.numberOfTrailingZeros(attributes.entries()),
            attributes.collapsed(),
            attributes.ignoreOverrun(),
            device.doorbells.number(),
            device.eventQueue,
            ring.start(),
            record.start()),
        PrmBuffer.HEADER_BYTES);
  }

  @Override
  public CompletionQueueAttributes attributes() {
    return attributes;
  }

  @Override
  String inUse(int queuePairs) {
    return "cannot close completion queue 0x%x of %s: %d queue(s) still complete into it; close their queue pairs first"
        .formatted(number(), device.context.name, queuePairs);
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number());
  }
}
