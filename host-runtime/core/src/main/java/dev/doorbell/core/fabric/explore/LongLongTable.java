package dev.doorbell.core.fabric.explore;

import java.util.Arrays;

/** An open-addressed map from addresses to positive numbers; 0 means absent. */
final class LongLongTable {
  private long[] keys = new long[8];
  private long[] values = new long[8];
  private int used;

  long get(long key) {
    return values[slot(keys, values, key)];
  }

  void put(long key, long value) {
    int slot = slot(keys, values, key);
    if (values[slot] == 0 && 2 * ++used > keys.length) {
      grow();
      slot = slot(keys, values, key);
    }
    keys[slot] = key;
    values[slot] = value;
  }

  void clear() {
    if (used > 0) {
      Arrays.fill(values, 0);
      used = 0;
    }
  }

  private void grow() {
    long[] moreKeys = new long[2 * keys.length];
    long[] moreValues = new long[2 * keys.length];
    for (int i = 0; i < keys.length; i++) {
      if (values[i] != 0) {
        int slot = slot(moreKeys, moreValues, keys[i]);
        moreKeys[slot] = keys[i];
        moreValues[slot] = values[i];
      }
    }
    keys = moreKeys;
    values = moreValues;
  }

  private static int slot(long[] keys, long[] values, long key) {
    int mask = keys.length - 1;
    int slot = (int) ((key * 0x9e37_79b9_7f4a_7c15L) >>> 32) & mask;
    while (values[slot] != 0 && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
