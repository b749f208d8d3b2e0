package dev.doorbell.verbs;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;

/** A queue that firmware made in memory of ours, and that queue pairs share: it outlives them. */
abstract class SharedDevxQueue {
  final DevxDomain domain;
  final DevxObject object;
  private final FirmwareMemory ring;
  private final FirmwareMemory record;
  private int users;
  private boolean closed;

  SharedDevxQueue(
      DevxDomain domain, FirmwareMemory ring, FirmwareMemory record, DevxObject object) {
    this.domain = domain;
    this.ring = ring;
    this.record = record;
    this.object = object;
  }

  /** A queue pair stands on it from now on. */
  final void use() {
    users++;
  }

  final void unuse() {
    users--;
  }

  final boolean isOpen() {
    return !closed;
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
   * Ends it, and gives its memory back.
   *
   * @throws HcaException while queue pairs use it
   */
  public final void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(inUse(users), Errno.EBUSY);
    }
    object.close();
    closed = true;
    forget();
    record.close();
    ring.close();
  }

  /** Why it cannot be closed, and what to do. */
  abstract String inUse(int queuePairs);

  /** Firmware has it no more: whoever knows it may forget it. */
  abstract void forget();
}
