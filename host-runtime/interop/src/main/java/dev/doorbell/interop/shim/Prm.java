package dev.doorbell.interop.shim;

import java.nio.ByteBuffer;

/**
 * A firmware command or its answer: big-endian dwords whose fields are named by the byte offset of
 * the dword and the bits in it (mlx5_ifc.h of rdma-core and the kernel).
 */
final class Prm {
  private static final int STATUS = 0x0;
  private static final int SYNDROME = 0x4;
  private static final int RESULT = 0x8;

  private final ByteBuffer bytes;

  Prm(byte[] content) {
    this.bytes = ByteBuffer.wrap(content);
  }

  byte[] content() {
    return bytes.array();
  }

  int size() {
    return bytes.capacity();
  }

  /** Bits {@code high} to {@code low} of the dword at {@code at}; 0 beyond the end. */
  int get(int at, int high, int low) {
    if (at + Integer.BYTES > bytes.capacity()) {
      return 0;
    }
    int width = high - low + 1;
    int value = bytes.getInt(at) >>> low;
    return width == Integer.SIZE ? value : value & (1 << width) - 1;
  }

  int get(int at) {
    return get(at, 31, 0);
  }

  long get64(int at) {
    return (long) get(at) << Integer.SIZE | (get(at + Integer.BYTES) & 0xffff_ffffL);
  }

  /** Sets bits of a dword; nothing beyond the end. */
  Prm put(int at, int high, int low, int value) {
    if (at + Integer.BYTES <= bytes.capacity()) {
      int width = high - low + 1;
      int mask = (width == Integer.SIZE ? -1 : (1 << width) - 1) << low;
      bytes.putInt(at, (bytes.getInt(at) & ~mask) | ((value << low) & mask));
    }
    return this;
  }

  Prm put64(int at, long value) {
    return put(at, 31, 0, (int) (value >>> Integer.SIZE)).put(at + 4, 31, 0, (int) value);
  }

  /** The number of the object that a command made. */
  Prm result(int number) {
    return put(RESULT, 23, 0, number);
  }

  /** The command failed. */
  Prm failed(int status, int syndrome) {
    return put(STATUS, 31, 24, status).put(SYNDROME, 31, 0, syndrome);
  }
}
