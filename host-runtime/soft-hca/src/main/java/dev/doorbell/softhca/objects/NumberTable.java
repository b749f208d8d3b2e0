package dev.doorbell.softhca.objects;

import dev.doorbell.softhca.packet.Psn;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Objects by number, in an array. Freed numbers come back in the order in which they were freed and
 * not before a good many others, so that a late packet or WQE does not meet a new object.
 */
public final class NumberTable<T> {
  private static final int REST = 1024;

  private final int first;
  private final int limit;
  private final ArrayDeque<Integer> freed = new ArrayDeque<>();

  // Replaced as a whole: doorbells look numbers up on other threads.
  private volatile @Nullable Object[] objects = new Object[16];
  private int used;
  private int live;

  public NumberTable(int first, int limit) {
    this.first = first;
    this.limit = limit;
  }

  /** The next number, or -1 when {@code limit} objects are live. */
  public int reserve() {
    if (live == limit) {
      return -1;
    }
    live++;
    if (freed.size() > REST || first + used > Psn.MASK) {
      return freed.remove();
    }
    return first + used++;
  }

  /**
   * The first of {@code count} numbers that follow each other and were never in use, or -1 when
   * there are none below {@code end}.
   */
  public int reserve(int count, int end) {
    if (live + count > limit || first + used + count > end) {
      return -1;
    }
    live += count;
    int number = first + used;
    used += count;
    return number;
  }

  public void put(int number, T object) {
    int index = number - first;
    @Nullable Object[] current = objects;
    if (index >= current.length) {
      @Nullable Object[] larger = new Object[Integer.highestOneBit(index) * 2];
      System.arraycopy(current, 0, larger, 0, current.length);
      current = larger;
    }
    current[index] = object;
    objects = current;
  }

  public void remove(int number) {
    @Nullable Object[] current = objects;
    if (number - first < current.length) {
      current[number - first] = null;
    }
    objects = current;
    live--;
    freed.add(number);
  }

  /** The object with that number, or null. */
  @SuppressWarnings("unchecked")
  public @Nullable T find(int number) {
    @Nullable Object[] current = objects;
    int index = number - first;
    return Integer.compareUnsigned(index, current.length) < 0 ? (T) current[index] : null;
  }
}
