package dev.doorbell.verbs;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.verbs.prm.CompletionQueueCommand;
import org.jspecify.annotations.Nullable;

/** A completion queue that firmware made in memory of ours. */
final class DevxCompletionQueue implements CompletionQueue {
  private final DevxDomain domain;
  private final CompletionQueueAttributes attributes;
  private final FirmwareMemory ring;
  private final FirmwareMemory record;
  private final @Nullable DevxChannel channel;
  private final DevxObject object;
  private int users;
  private boolean closed;

  DevxCompletionQueue(
      DevxDomain domain,
      CompletionQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record,
      @Nullable DevxChannel channel) {
    this.domain = domain;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    this.channel = channel;
    // By copy: the CPU need not be able to address it.
    ring.memory().fill(0, (long) attributes.entries() * Cqe.BYTES, Cqe.INITIAL_FILL);
    Mlx5Hca hca = domain.device();
    this.object =
        DevxObject.create(
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
            CompletionQueueCommand.ANSWER_BYTES);
    try {
      hca.queueEvents.watchCompletionQueue(object);
      if (channel != null) {
        channel.add(this, object);
      }
    } catch (RuntimeException e) {
      object.close();
      throw e;
    }
  }

  void use() {
    users++;
  }

  void unuse() {
    users--;
  }

  @Override
  public int number() {
    return object.number();
  }

  @Override
  public CompletionQueueAttributes attributes() {
    return attributes;
  }

  @Override
  public long ringAddress() {
    return ring.address();
  }

  @Override
  public long recordAddress() {
    return record.address();
  }

  @Override
  public long armAddress() {
    return domain.device().doorbells.standInArm();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(
          "cannot close completion queue 0x%x of %s: %d queue(s) still complete into it; close their queue pairs first"
              .formatted(number(), domain.device().name(), users),
          Errno.EBUSY);
    }
    object.close();
    closed = true;
    if (channel != null) {
      channel.remove(this);
    }
    domain.device().closed(this);
    domain.closed(this);
    record.close();
    ring.close();
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number());
  }
}
