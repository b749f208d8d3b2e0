package dev.doorbell.core.fabric.explore.model;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds words by address: a table of pages, open-addressed and small, because every access looks
 * here, and most look where the last one did.
 */
final class CellTable {
  private static final int PAGE_SHIFT = 12;
  private static final int WORDS = (1 << PAGE_SHIFT) / Long.BYTES;

  /** No page has this number. */
  private static final long NONE = -1;

  private long[] numbers = numbers(64);
  private @Nullable Cell[][] pages = new Cell[64][];
  private int used;
  private long lastNumber = NONE;
  private @Nullable Cell[] last = new Cell[WORDS];

  @Nullable Cell find(long address) {
    long number = address >>> PAGE_SHIFT;
    return (number == lastNumber ? last : page(number))[word(address)];
  }

  void add(Cell cell) {
    page(cell.address >>> PAGE_SHIFT)[word(cell.address)] = cell;
  }

  private static int word(long address) {
    return (int) (address >>> 3) & (WORDS - 1);
  }

  private @Nullable Cell[] page(long number) {
    int slot = slot(numbers, number);
    if (numbers[slot] == NONE) {
      if (2 * ++used > numbers.length) {
        grow();
        slot = slot(numbers, number);
      }
      numbers[slot] = number;
      pages[slot] = new Cell[WORDS];
    }
    lastNumber = number;
    last = pages[slot];
    return last;
  }

  private void grow() {
    long[] more = numbers(2 * numbers.length);
    @Nullable Cell[][] morePages = new Cell[more.length][];
    for (int i = 0; i < numbers.length; i++) {
      if (numbers[i] != NONE) {
        int slot = slot(more, numbers[i]);
        more[slot] = numbers[i];
        morePages[slot] = pages[i];
      }
    }
    numbers = more;
    pages = morePages;
  }

  private static long[] numbers(int length) {
    long[] numbers = new long[length];
    Arrays.fill(numbers, NONE);
    return numbers;
  }

  private static int slot(long[] numbers, long number) {
    int mask = numbers.length - 1;
    int slot = (int) ((number * 0x9e37_79b9_7f4a_7c15L) >>> 40) & mask;
    while (numbers[slot] != number && numbers[slot] != NONE) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
