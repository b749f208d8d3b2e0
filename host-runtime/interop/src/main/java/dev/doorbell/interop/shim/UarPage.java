package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.interop.shim.ClientProcess.Lease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A doorbell page of a program: memory that it shares with us, which stores do not leave. Whatever
 * changes there means that somebody rang. Several queue pairs may ring at one register and hide
 * each other's doorbells, so all queue pairs of the page are looked at then: what was posted is in
 * their doorbell records. Without a doorbell nothing happens, as on a NIC.
 *
 * <p>A doorbell that was seen is taken away, so that one of the same value is seen again: after a
 * reset, or for a new queue pair of the same number.
 */
final class UarPage {
  private static final int[] SEND = {0x800, 0x900, 0xa00, 0xb00, Doorbell.RECORDLESS_OFFSET};

  private final int number;
  private final long offset;
  private final Lease lease;
  private final MemorySegment doorbell = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  /** Queue pairs that ring here. */
  final List<Resource.Qp> users = new ArrayList<>();

  /**
   * @param number by which commands name the page
   * @param offset in the shared file
   */
  UarPage(int number, long offset, Lease lease) {
    this.number = number;
    this.offset = offset;
    this.lease = lease;
  }

  int number() {
    return number;
  }

  /** Where it lies in the shared file. */
  long offset() {
    return offset;
  }

  /** Whether somebody has armed a completion queue here since the last look. */
  boolean armRung() {
    return take(lease.address() + Doorbell.ARM_OFFSET);
  }

  /**
   * Looks at the send doorbells.
   *
   * @return how many queue pairs were told of new work
   */
  int look(ClientFabric fabric) {
    boolean rung = false;
    for (int i = 0; i < SEND.length; i++) {
      rung |= take(lease.address() + SEND[i]);
    }
    return rung ? ring(fabric) : 0;
  }

  /** Empties a register; one that is stored to meanwhile is found at the next look. */
  private static boolean take(long register) {
    long value = RawMemory.getLongAcquire(register);
    if (value == 0) {
      return false;
    }
    RawMemory.compareAndExchangeLong(register, value, 0);
    return true;
  }

  private int ring(ClientFabric fabric) {
    int told = 0;
    for (int i = 0; i < users.size(); i++) {
      Resource.Qp user = users.get(i);
      int index = DoorbellRecord.sendIndex(user.queuePair.recordAddress()) & SendQueue.INDEX_MASK;
      if (index != user.rung) {
        user.rung = index;
        RawMemory.putLong(doorbell.address(), Doorbell.encode(index, user.queuePair.number()));
        fabric.store(user.queuePair.doorbellAddress(), doorbell.address());
        told++;
      }
    }
    return told;
  }

  /** Arms a completion queue if its doorbell record says something new. */
  int arm(Resource.Cq cq, ClientFabric fabric) {
    int word = RawMemory.getIntAcquire(cq.queue.recordAddress() + DoorbellRecord.ARM_OFFSET);
    if (word == cq.armed) {
      return 0;
    }
    cq.armed = word;
    RawMemory.putInt(doorbell.address(), word);
    RawMemory.putInt(doorbell.address() + Integer.BYTES, Integer.reverseBytes(cq.queue.number()));
    fabric.store(cq.queue.armAddress(), doorbell.address());
    return 1;
  }

  void close() {
    if (!users.isEmpty()) {
      throw new HcaException(
          "doorbell page %d is still used by %d queue pair(s)".formatted(number, users.size()),
          Errno.EBUSY);
    }
    lease.close();
  }
}
