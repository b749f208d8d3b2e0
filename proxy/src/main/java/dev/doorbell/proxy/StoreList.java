package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import java.util.Arrays;

/**
 * Stores, fences and pauses that a host thread is about to do, in order.
 *
 * <p>An access to a port may park the thread, which then has to come back and repeat exactly that
 * access. Code that only stores writes its accesses down here, and {@link #drain} does as many as
 * the port lets it, going on at the right one the next time. Allocates nothing once it has grown.
 */
public final class StoreList {
  private static final byte STORE32 = 0;
  private static final byte STORE64 = 1;
  private static final byte STORE128 = 2;
  private static final byte FENCE = 3;
  private static final byte SPEND = 4;

  private byte[] kinds = new byte[64];
  private int[] accesses = new int[64];
  private long[] addresses = new long[64];
  private long[] lows = new long[64];
  private long[] highs = new long[64];
  private int count;
  private int next;

  /** See {@link ThreadPort#store32}. */
  public void store32(long address, int value, int access) {
    add(STORE32, address, value, 0, access);
  }

  /** See {@link ThreadPort#store64}. */
  public void store64(long address, long value, int access) {
    add(STORE64, address, value, 0, access);
  }

  /** See {@link ThreadPort#store128}. */
  public void store128(long address, long low, long high, int access) {
    add(STORE128, address, low, high, access);
  }

  /** See {@link ThreadPort#fence}. */
  public void fence(int access) {
    add(FENCE, 0, 0, 0, access);
  }

  /** See {@link ThreadPort#spend}; nothing when {@code nanos} is 0. */
  public void spend(long nanos) {
    if (nanos != 0) {
      add(SPEND, 0, nanos, 0, 0);
    }
  }

  /**
   * Rings for a queue pair: record, fence, doorbell.
   *
   * @param index everything below it is posted
   */
  public void ring(SendQueueAccess queue, long index) {
    record(queue, index);
    store64(queue.doorbell(), Doorbell.encode(index, queue.number24()), Access.MMIO | Access.SYS);
  }

  /** Writes the doorbell record, and orders it before what follows. */
  void record(SendQueueAccess queue, long index) {
    store32(queue.record(), DoorbellRecord.encode(index), Access.RELEASE | Access.SYS);
    fence(Access.RELEASE | Access.SYS);
  }

  /** True when nothing is left to do. */
  public boolean isEmpty() {
    return count == 0;
  }

  /**
   * Does what is left, in order.
   *
   * @return false when the port parked the thread; call again when it is stepped again
   */
  public boolean drain(ThreadPort port) {
    while (next < count) {
      int i = next;
      switch (kinds[i]) {
        case STORE32 -> port.store32(addresses[i], lows[i], accesses[i]);
        case STORE64 -> port.store64(addresses[i], lows[i], accesses[i]);
        case STORE128 -> port.store128(addresses[i], lows[i], highs[i], accesses[i]);
        case FENCE -> port.fence(accesses[i]);
        default -> port.spend(lows[i]);
      }
      // Spending time is no access: the flag is still that of the access before.
      if (port.parked && kinds[i] != SPEND) {
        return false;
      }
      next++;
    }
    count = 0;
    next = 0;
    return true;
  }

  private void add(byte kind, long address, long low, long high, int access) {
    if (count == kinds.length) {
      grow();
    }
    int i = count++;
    kinds[i] = kind;
    accesses[i] = access;
    addresses[i] = address;
    lows[i] = low;
    highs[i] = high;
  }

  private void grow() {
    int capacity = count * 2;
    kinds = Arrays.copyOf(kinds, capacity);
    accesses = Arrays.copyOf(accesses, capacity);
    addresses = Arrays.copyOf(addresses, capacity);
    lows = Arrays.copyOf(lows, capacity);
    highs = Arrays.copyOf(highs, capacity);
  }
}
