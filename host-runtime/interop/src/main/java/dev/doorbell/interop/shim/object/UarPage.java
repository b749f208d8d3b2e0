package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.interop.shim.client.ClientFabric;
import dev.doorbell.interop.shim.client.Lease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A doorbell page of a program: memory that it shares with this process, so that its stores stay in
 * memory. A register that is not 0 has been written since the last poll. Several queue pairs may
 * write one register and overwrite each other's doorbells; therefore all queue pairs of the page
 * are checked then, by the producer indexes in their doorbell records. Without a doorbell nothing
 * is sent, as on a NIC.
 *
 * <p>A poll clears the registers, so that a doorbell of the same value is found again: after a
 * reset, or for a new queue pair of the same number.
 */
public final class UarPage {
  private static final int[] SEND = {0x800, 0x900, 0xa00, 0xb00, Doorbell.RECORDLESS_OFFSET};

  private final int number;
  private final long offset;
  private final Lease lease;
  private final MemorySegment doorbell = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  final List<Resource.Qp> users = new ArrayList<>();

  /**
   * @param number by which commands name the page
   * @param offset in the shared file
   */
  public UarPage(int number, long offset, Lease lease) {
    this.number = number;
    this.offset = offset;
    this.lease = lease;
  }

  public int number() {
    return number;
  }

  /** Its place in the shared file. */
  public long offset() {
    return offset;
  }

  /** True when the program has armed a completion queue here since the last poll. */
  boolean pollArm() {
    return takeRegister(lease.address() + Doorbell.ARM_OFFSET);
  }

  /**
   * Polls the send doorbells and passes them on.
   *
   * @return the number of queue pairs that have new work
   */
  int pollSends(ClientFabric fabric) {
    boolean written = false;
    for (int i = 0; i < SEND.length; i++) {
      written |= takeRegister(lease.address() + SEND[i]);
    }
    return written ? ringSends(fabric) : 0;
  }

  /** Passes on what a kernel has stored to the page, whose address in the window is {@code at}. */
  void store(ClientFabric fabric, long at, long address, long source, int bytes) {
    int offset = (int) (address - at);
    long value = Doorbell.read(source);
    for (Resource.Qp user : users) {
      if (user.number() == Doorbell.qpn(value) && offset != Doorbell.ARM_OFFSET) {
        user.doorbellIndex = Doorbell.index(value);
        fabric.pass(user.queuePair.doorbellAddress(), source);
        return;
      }
    }
    RawMemory.copy(source, lease.address() + offset, bytes);
  }

  /** Clears a register; a store that comes meanwhile is found by the next poll. */
  private static boolean takeRegister(long register) {
    long value = RawMemory.getLongAcquire(register);
    if (value == 0) {
      return false;
    }
    RawMemory.compareAndExchangeLong(register, value, 0);
    return true;
  }

  private int ringSends(ClientFabric fabric) {
    int rung = 0;
    for (int i = 0; i < users.size(); i++) {
      Resource.Qp user = users.get(i);
      int index = index(user, DoorbellRecord.SEND_OFFSET, user.doorbellIndex, fabric);
      if (index != user.doorbellIndex) {
        user.doorbellIndex = index;
        ring(user, index, fabric);
        rung++;
      }
    }
    return rung;
  }

  /**
   * Lets the HCA look at queue pairs in error to which receives have been posted since the last
   * call: no doorbell tells of a receive, and no message comes any more that would look for one.
   *
   * @return their number
   */
  int pollFailed(ClientFabric fabric) {
    int found = 0;
    for (int i = 0; i < users.size(); i++) {
      Resource.Qp user = users.get(i);
      if (user.queuePair.state() == QueuePairState.ERR) {
        int index = index(user, DoorbellRecord.RECEIVE_OFFSET, user.receiveIndex, fabric);
        if (index != user.receiveIndex) {
          user.receiveIndex = index;
          ring(user, Math.max(user.doorbellIndex, 0), fabric);
          found++;
        }
      }
    }
    return found;
  }

  private void ring(Resource.Qp user, int index, ClientFabric fabric) {
    RawMemory.putLong(doorbell.address(), Doorbell.encode(index, user.queuePair.number()));
    fabric.store(user.queuePair.doorbellAddress(), doorbell.address());
  }

  /** A producer index of a doorbell record; the last one where a GPU's memory is gone. */
  private static int index(Resource.Qp of, int offset, int last, ClientFabric fabric) {
    try {
      int stored = fabric.loadWord(of.queuePair.recordAddress() + offset);
      return DoorbellRecord.decode(stored) & SendQueue.INDEX_MASK;
    } catch (AccessFault gone) {
      return last;
    }
  }

  /** Arms a completion queue if the arm word of its doorbell record has changed; 1 if so. */
  int arm(Resource.Cq cq, ClientFabric fabric) {
    int word;
    try {
      word = fabric.loadWord(cq.queue.recordAddress() + DoorbellRecord.ARM_OFFSET);
    } catch (AccessFault gone) {
      return 0;
    }
    if (word == cq.armWord) {
      return 0;
    }
    cq.armWord = word;
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
