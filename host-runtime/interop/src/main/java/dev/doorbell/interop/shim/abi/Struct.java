package dev.doorbell.interop.shim.abi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Bytes of a C structure of the uverbs ABI: little-endian, except where a field says otherwise. */
public final class Struct {
  private final ByteBuffer bytes;

  public Struct(int size) {
    this(new byte[size]);
  }

  public Struct(byte[] content) {
    this.bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
  }

  public byte[] content() {
    return bytes.array();
  }

  public int size() {
    return bytes.capacity();
  }

  public int u8(int at) {
    return bytes.get(at) & 0xff;
  }

  public int u16(int at) {
    return bytes.getShort(at) & 0xffff;
  }

  public int u32(int at) {
    return bytes.getInt(at);
  }

  public long u64(int at) {
    return bytes.getLong(at);
  }

  /** A big-endian field. */
  public long be64(int at) {
    return Long.reverseBytes(bytes.getLong(at));
  }

  public Struct u8(int at, int value) {
    bytes.put(at, (byte) value);
    return this;
  }

  public Struct u16(int at, int value) {
    bytes.putShort(at, (short) value);
    return this;
  }

  public Struct u32(int at, int value) {
    bytes.putInt(at, value);
    return this;
  }

  public Struct u64(int at, long value) {
    bytes.putLong(at, value);
    return this;
  }

  /** A big-endian field. */
  public Struct be64(int at, long value) {
    bytes.putLong(at, Long.reverseBytes(value));
    return this;
  }

  /** A big-endian field. */
  public int be16(int at) {
    return Short.reverseBytes(bytes.getShort(at)) & 0xffff;
  }

  /** A big-endian field. */
  public Struct be16(int at, int value) {
    bytes.putShort(at, Short.reverseBytes((short) value));
    return this;
  }

  /** A big-endian field. */
  public Struct be32(int at, int value) {
    bytes.putInt(at, Integer.reverseBytes(value));
    return this;
  }

  /** Copies {@code count} bytes. */
  public Struct copy(Struct from, int fromAt, int at, int count) {
    bytes.put(at, from.content(), fromAt, count);
    return this;
  }
}
