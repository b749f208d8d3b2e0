package dev.doorbell.verbs;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.prm.CompletionQueueCommand;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import org.jspecify.annotations.Nullable;

/** A completion queue that firmware made in memory of ours. */
final class DevxCompletionQueue extends SharedDevxQueue implements CompletionQueue {
  private final CompletionQueueAttributes attributes;
  private final @Nullable DevxChannel channel;

  DevxCompletionQueue(
      DevxDomain domain,
      CompletionQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record,
      @Nullable DevxChannel channel) {
    super(domain, ring, record, create(domain.device(), attributes, ring, record));
    this.attributes = attributes;
    this.channel = channel;
    try {
      domain.device().queueEvents.watchCompletionQueue(object);
      if (channel != null) {
        channel.add(this, object);
      }
    } catch (RuntimeException e) {
      object.close();
      throw e;
    }
  }

  private static DevxObject create(
      Mlx5Hca hca,
      CompletionQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    // By copy: the CPU need not be able to address it.
    ring.memory().fill(0, (long) attributes.entries() * Cqe.BYTES, Cqe.INITIAL_FILL);
    return DevxObject.create(
        hca.context,
        "a completion queue of %d entries".formatted(attributes.entries()),
        CompletionQueueCommand.create(
            Integer.numberOfTrailingZeros(attributes.entries()),
            attributes.collapsed(),
            attributes.ignoreOverrun(),
            hca.doorbells.number(),
            hca.eventQueue,
            ring.start(),
            record.start()),
        PrmBuffer.HEADER_BYTES);
  }

  @Override
  public CompletionQueueAttributes attributes() {
    return attributes;
  }

  @Override
  public long armAddress() {
    return domain.device().doorbells.standInArm();
  }

  @Override
  String inUse(int queuePairs) {
    return "cannot close completion queue 0x%x of %s: %d queue(s) still complete into it; close their queue pairs first"
        .formatted(number(), domain.device().name(), queuePairs);
  }

  @Override
  void forget() {
    if (channel != null) {
      channel.remove(this);
    }
    domain.device().closed(this);
    domain.closed(this);
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number());
  }
}
