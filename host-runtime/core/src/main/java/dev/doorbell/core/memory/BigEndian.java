package dev.doorbell.core.memory;

/** The one place where byte order is reversed: big-endian fields of device formats. */
public final class BigEndian {
  private BigEndian() {}

  public static short swap(short value) {
    return Short.reverseBytes(value);
  }

  public static int swap(int value) {
    return Integer.reverseBytes(value);
  }

  public static long swap(long value) {
    return Long.reverseBytes(value);
  }

  public static short getShort(long address) {
    return swap(RawMemory.getShort(address));
  }

  public static int getInt(long address) {
    return swap(RawMemory.getInt(address));
  }

  public static long getLong(long address) {
    return swap(RawMemory.getLong(address));
  }

  public static void putShort(long address, short value) {
    RawMemory.putShort(address, swap(value));
  }

  public static void putInt(long address, int value) {
    RawMemory.putInt(address, swap(value));
  }

  public static void putLong(long address, long value) {
    RawMemory.putLong(address, swap(value));
  }
}
