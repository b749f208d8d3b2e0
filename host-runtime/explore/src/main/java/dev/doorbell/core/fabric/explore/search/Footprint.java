package dev.doorbell.core.fabric.explore.search;

import java.util.Arrays;

/** The words and queues that one step of an agent reads and writes. */
final class Footprint {
  /** A read that a later look of the same loop repeats: nothing came of it. */
  static final byte VAIN = 0;

  static final byte READ = 1;
  static final byte WRITE = 2;

  private long[] keys = new long[4];
  private byte[] kinds = new byte[4];
  private int count;

  int size() {
    return count;
  }

  long key(int i) {
    return keys[i];
  }

  byte kind(int i) {
    return kinds[i];
  }

  /** Adds an access, and returns its index. */
  int add(long key, byte kind) {
    for (int i = 0; i < count; i++) {
      if (keys[i] == key && kinds[i] != VAIN) {
        kinds[i] = (byte) Math.max(kinds[i], kind);
        return i;
      }
    }
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, 2 * count);
      kinds = Arrays.copyOf(kinds, 2 * count);
    }
    keys[count] = key;
    kinds[count] = kind;
    return count++;
  }

  void addAll(Footprint other) {
    for (int i = 0; i < other.count; i++) {
      add(other.keys[i], other.kinds[i]);
    }
  }

  /** A read turns out to have been in vain, unless the step writes the word, too. */
  void inVain(int i) {
    if (kinds[i] == READ) {
      kinds[i] = VAIN;
    }
  }

  /** True unless both touch a word that one of them writes. */
  boolean commutesWith(Footprint other) {
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < other.count; k++) {
        if (keys[i] == other.keys[k] && (kinds[i] == WRITE || other.kinds[k] == WRITE)) {
          return false;
        }
      }
    }
    return true;
  }
}
