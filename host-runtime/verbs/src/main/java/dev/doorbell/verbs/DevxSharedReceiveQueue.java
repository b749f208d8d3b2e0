package dev.doorbell.verbs;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.verbs.prm.SharedReceiveCommand;

/** A shared receive queue that firmware made in memory of ours. */
final class DevxSharedReceiveQueue implements SharedReceiveQueue {
  private final DevxDomain domain;
  private final SharedReceiveQueueAttributes attributes;
  private final FirmwareMemory ring;
  private final FirmwareMemory record;
  private final DevxObject object;
  private int users;
  private boolean closed;

  DevxSharedReceiveQueue(
      DevxDomain domain,
      SharedReceiveQueueAttributes attributes,
      FirmwareMemory ring,
      FirmwareMemory record) {
    this.domain = domain;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    Mlx5Hca hca = domain.device();
    this.object =
        DevxObject.create(
            hca.context,
            "a shared receive queue of %d entries".formatted(attributes.entries()),
            SharedReceiveCommand.create(
                domain.number(),
                Integer.numberOfTrailingZeros(attributes.entries()),
                Integer.numberOfTrailingZeros(attributes.stride()),
                ring.start(),
                record.start()),
            SharedReceiveCommand.ANSWER_BYTES);
    try {
      hca.queueEvents.watchSharedReceives(object);
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

  /** Whether queue pairs of {@code hca} may take from it. */
  boolean isOpenAt(Mlx5Hca hca) {
    return !closed && domain.device() == hca;
  }

  @Override
  public int number() {
    return object.number();
  }

  @Override
  public SharedReceiveQueueAttributes attributes() {
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
        SharedReceiveCommand.ANSWER_BYTES);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(
          "cannot close %s of %s: %d queue pair(s) still take from it; close them first"
              .formatted(this, domain.device().name(), users),
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
    return "shared receive queue 0x%x".formatted(number());
  }
}
