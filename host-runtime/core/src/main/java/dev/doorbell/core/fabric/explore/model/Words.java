package dev.doorbell.core.fabric.explore.model;

/** Parts of words of 8 aligned bytes. */
public final class Words {
  private Words() {}

  /** By how many bits the bytes at {@code address} are shifted in their word. */
  public static int shift(long address) {
    return (int) (address & (Long.BYTES - 1)) * Byte.SIZE;
  }

  /** All ones in {@code bytes} bytes. */
  public static long ones(int bytes) {
    return bytes == Long.BYTES ? -1L : (1L << (bytes * Byte.SIZE)) - 1;
  }

  /** Bytes of the next access to a range: as many as an aligned word of 8, 4, 2 or 1 holds. */
  public static int piece(long address, int left) {
    int piece = Long.BYTES;
    while (piece > left || (address & (piece - 1)) != 0) {
      piece /= 2;
    }
    return piece;
  }
}
