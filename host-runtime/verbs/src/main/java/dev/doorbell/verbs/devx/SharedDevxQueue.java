package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.verbs.device.VerbsDomain;

/** A queue that firmware created in our memory and that queue pairs share: it outlives them. */
abstract class SharedDevxQueue implements AutoCloseable {
  final DevxDevice device;
  private final VerbsDomain domain;
  final DevxObject object;
  private final FirmwareMemory ring;
  private final FirmwareMemory record;
  private int users;
  private boolean closed;

  SharedDevxQueue(
      DevxDevice device,
      VerbsDomain domain,
      FirmwareMemory ring,
      FirmwareMemory record,
      DevxObject object) {
    this.device = device;
    this.domain = domain;
    this.ring = ring;
    this.record = record;
    this.object = object;
  }

  /** Adds a queue pair that uses this queue. */
  final void use() {
    users++;
  }

  final void unuse() {
    users--;
  }

  /** Returns true if queue pairs of {@code other} may use it. */
  final boolean isOpenAt(DevxDevice other) {
    return !closed && device == other;
  }

  public final int number() {
    return object.number();
  }

  public final long ringAddress() {
    return ring.address();
  }

  public final long recordAddress() {
    return record.address();
  }

  /**
   * Destroys the queue and frees its memory.
   *
   * @throws HcaException if queue pairs still use it
   */
  @Override
  public final void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(inUse(users), Errno.EBUSY);
    }
    object.close();
    closed = true;
    domain.closed(this);
    record.close();
    ring.close();
  }

  /** The message for a queue that cannot be closed, with the fix. */
  abstract String inUse(int queuePairs);
}
