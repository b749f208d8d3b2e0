package dev.doorbell.softhca.foreign;

import dev.doorbell.core.efa.CompletionEntry;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A completion queue with EFA's entries. The adapter does not look at a consumer index: whoever
 * posts no more than the queue has entries is safe.
 */
public final class EfaCompletionQueue implements CompletionQueue, Owned {
  private static final int WORD = Integer.BYTES;

  private final ObjectOwner domain;
  private final HcaServices hca;
  private final DevicePort port;
  private final int number;
  private final CompletionQueueAttributes attributes;
  private final Memory ring;
  private final Memory record;
  private final MemorySegment staging = Arena.ofAuto().allocate(CompletionEntry.BYTES, 64);
  private long produced;
  private int users;
  private boolean closed;

  public EfaCompletionQueue(
      ObjectOwner domain,
      HcaServices hca,
      int number,
      CompletionQueueAttributes attributes,
      Memory ring,
      Memory record) {
    this.domain = domain;
    this.hca = hca;
    this.port = hca.port();
    this.number = number;
    this.attributes = attributes;
    this.ring = ring;
    this.record = record;
    ring.fill(0, ring.size(), (byte) 0);
  }

  /** Native address where an entry is put together. */
  long staging() {
    return staging.address();
  }

  /** The phase bit of the next entry: 1 in the first lap. */
  int phase() {
    return (int) (~(produced / attributes.entries()) & 1);
  }

  /** Writes the staged entry, its phase bit last. */
  void post() {
    long entry = ring.address() + (produced & (attributes.entries() - 1)) * CompletionEntry.BYTES;
    produced++;
    port.write(staging() + WORD, entry + WORD, CompletionEntry.BYTES - WORD, false);
    port.write(staging(), entry, WORD, false);
  }

  void use() {
    users++;
  }

  void unuse() {
    users--;
  }

  @Override
  public int number() {
    return number;
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

  /** Events of such queues are not modelled. */
  @Override
  public long armAddress() {
    return hca.uarPage();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw new HcaException(
          "cannot close completion queue 0x%x of %s: %d queue(s) still complete into it; close their queue pairs first"
              .formatted(number, hca.name(), users),
          Errno.EBUSY);
    }
    closed = true;
    domain.closing(this);
    ring.close();
    record.close();
  }

  @Override
  public String toString() {
    return "completion queue 0x%x".formatted(number);
  }
}
