package dev.doorbell.experiments.collective;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Types of elements, little-endian. */
public enum DataType {
  FLOAT(0, 4, 1 << 24),
  HALF(1, 2, 1 << 11),
  BFLOAT16(2, 2, 1 << 8),
  INT32(3, 4, 1 << 30);

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

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

  public int bytes() {
    return bytes;
  }

  /** All whole numbers up to this one, and their negatives, are exact. */
  public int exact() {
    return exact;
  }

  /** Stores a whole number that is exact from byte {@code at} on. */
  void put(byte[] to, int at, int value) {
    switch (this) {
      case FLOAT -> INT.set(to, at, Float.floatToRawIntBits(value));
      case HALF -> SHORT.set(to, at, Float.floatToFloat16(value));
      case BFLOAT16 -> SHORT.set(to, at, (short) (Float.floatToRawIntBits(value) >>> Short.SIZE));
      case INT32 -> INT.set(to, at, value);
    }
  }
}
