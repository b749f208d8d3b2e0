package dev.doorbell.experiments.scenario.foreign;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a structure, or of an array of them, filled in by the names of fields. Everything
 * else is zero. Numbers are little-endian, as GPUs have them.
 */
final class StructImage {
  private final ApiLayout layout;
  private final String type;
  private final int base;
  private final ByteBuffer bytes;

  private StructImage(ApiLayout layout, String type, int base, ByteBuffer bytes) {
    this.layout = layout;
    this.type = type;
    this.base = base;
    this.bytes = bytes;
  }

  /** {@code count} zeroed structures, side by side; this is the first. */
  static StructImage array(ApiLayout layout, String type, int count) throws ApiLayoutException {
    int size = layout.place(type).bytes();
    return new StructImage(
        layout,
        type,
        0,
        ByteBuffer.allocate(Math.multiplyExact(size, count)).order(ByteOrder.LITTLE_ENDIAN));
  }

  /** The structure {@code index} places behind this one. */
  StructImage element(int index) throws ApiLayoutException {
    return new StructImage(layout, type, base + index * layout.place(type).bytes(), bytes);
  }

  /** The structure of another type that a field holds. */
  StructImage inner(String field, String innerType) throws ApiLayoutException {
    return new StructImage(layout, innerType, base + place(field).offset(), bytes);
  }

  /** Bytes from the start of the array to this structure. */
  int base() {
    return base;
  }

  /** Bytes from the start of the array to a field of this structure. */
  int offset(String field) throws ApiLayoutException {
    return base + place(field).offset();
  }

  private ApiLayout.Place place(String field) throws ApiLayoutException {
    return layout.place(type + "." + field);
  }

  /**
   * Sets a field of 1, 2, 4 or 8 bytes.
   *
   * @throws ApiLayoutException when the headers lack it, or it is too narrow for the value
   */
  StructImage set(String field, long value) throws ApiLayoutException {
    ApiLayout.Place place = place(field);
    int at = base + place.offset();
    switch (place.bytes()) {
      case Byte.BYTES -> bytes.put(at, (byte) fitting(field, value, Byte.SIZE));
      case Short.BYTES -> bytes.putShort(at, (short) fitting(field, value, Short.SIZE));
      case Integer.BYTES -> bytes.putInt(at, (int) fitting(field, value, Integer.SIZE));
      case Long.BYTES -> bytes.putLong(at, value);
      default ->
          throw new ApiLayoutException(
              "%s.%s has %d bytes, and is no number".formatted(type, field, place.bytes()),
              "use a version in which it is one");
    }
    return this;
  }

  /** Sets a field of 4 bytes that the device code holds in the byte order of the HCA. */
  StructImage setBigEndian(String field, int value) throws ApiLayoutException {
    ApiLayout.Place place = place(field);
    bytes.order(ByteOrder.BIG_ENDIAN).putInt(base + place.offset(), value);
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    return this;
  }

  private long fitting(String field, long value, int bits) throws ApiLayoutException {
    if (value >>> bits != 0) {
      throw new ApiLayoutException(
          "%s.%s has %d bits, too few for %d".formatted(type, field, bits, value),
          "use fewer: a smaller ring, or other queues");
    }
    return value;
  }

  /** The whole array. */
  byte[] toBytes() {
    byte[] all = new byte[bytes.capacity()];
    bytes.get(0, all);
    return all;
  }
}
