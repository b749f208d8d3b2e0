package dev.doorbell.experiments.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Types of elements, little-endian. */
public enum DataType {
  FLOAT(0, 4, 1 << 24),
  HALF(1, 2, 1 << 11),
  BFLOAT16(2, 2, 1 << 8),
  INT32(3, 4, 1 << 30);

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int code;
  private final int bytes;
  private final int exact;

  DataType(int code, int bytes, int exact) {
    this.code = code;
    this.bytes = bytes;
    this.exact = exact;
  }

  /** {@code DOORBELL_TYPE_*} of collective_abi.h. */
  public int code() {
    return code;
  }

  /** Bytes of an element. */
  public int bytes() {
    return bytes;
  }

  /** All whole numbers up to this one, and their negatives, are exact. */
  public int exact() {
    return exact;
  }

  /** Stores a whole number that is exact. */
  void put(MemorySegment to, long element, int value) {
    switch (this) {
      case FLOAT -> to.set(INT, element * Integer.BYTES, Float.floatToRawIntBits(value));
      case HALF -> to.set(SHORT, element * Short.BYTES, Float.floatToFloat16(value));
      case BFLOAT16 ->
          to.set(
              SHORT,
              element * Short.BYTES,
              (short) (Float.floatToRawIntBits(value) >>> Short.SIZE));
      case INT32 -> to.set(INT, element * Integer.BYTES, value);
    }
  }
}
