package dev.doorbell.interop.shim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Bytes of a C structure of the uverbs ABI: little-endian, except where a field says otherwise. */
final class Struct {
  private final ByteBuffer bytes;

  Struct(int size) {
    this(new byte[size]);
  }

  Struct(byte[] content) {
    this.bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
  }

  byte[] content() {
    return bytes.array();
  }

  int size() {
    return bytes.capacity();
  }

  int u8(int at) {
    return bytes.get(at) & 0xff;
  }

  int u16(int at) {
    return bytes.getShort(at) & 0xffff;
  }

  int u32(int at) {
    return bytes.getInt(at);
  }

  long u64(int at) {
    return bytes.getLong(at);
  }

  /** A big-endian field. */
  long be64(int at) {
    return Long.reverseBytes(bytes.getLong(at));
  }

  Struct u8(int at, int value) {
    bytes.put(at, (byte) value);
    return this;
  }

  Struct u16(int at, int value) {
    bytes.putShort(at, (short) value);
    return this;
  }

  Struct u32(int at, int value) {
    bytes.putInt(at, value);
    return this;
  }

  Struct u64(int at, long value) {
    bytes.putLong(at, value);
    return this;
  }

  /** A big-endian field. */
  Struct be64(int at, long value) {
    bytes.putLong(at, Long.reverseBytes(value));
    return this;
  }

  /** Copies {@code count} bytes. */
  Struct copy(Struct from, int fromAt, int at, int count) {
    bytes.put(at, from.content(), fromAt, count);
    return this;
  }
}
