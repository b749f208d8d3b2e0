package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.prm.CompletionQueueCommand;
import dev.doorbell.core.mlx5.prm.PrmBuffer;

/** A completion queue that firmware created in our memory; it outlives its queue pairs. */
final class DevxCompletionQueue implements CompletionQueue {
  private final DevxDevice device;
  private final DevxDomain domain;
  private final CompletionQueueAttributes attributes;
  private final FirmwareMemory ring;
  private final FirmwareMemory record;
  private final DevxObject object;
  private int users;
  private boolean closed;

  DevxCompletionQueue(
      DevxDevice device,
      DevxDomain domain,
      CompletionQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    this.device = device;
    this.domain = domain;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    // By copy, because the CPU may not be able to address GPU memory.
    ring.memory().fill(0, (long) attributes.entries() * Cqe.BYTES, Cqe.INITIAL_FILL);
    this.object =
        DevxObject.create(
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

  void use() {
    users++;
  }

  void unuse() {
    users--;
  }

  /** Returns true if queue pairs of {@code other} may use it. */
  boolean isOpenAt(DevxDevice other) {
    return !closed && device == other;
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
  public void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(
          "cannot close completion queue 0x%x of %s: %d queue(s) still complete into it; close their queue pairs first"
              .formatted(number(), device.context.name, users),
          Errno.EBUSY);
    }
    object.close();
    closed = true;
    domain.closed(this);
    record.close();
    ring.close();
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number());
  }
}
