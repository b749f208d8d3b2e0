package dev.doorbell.core.fabric;

/** The read-modify-write operations of PTX {@code atom} and {@code red}, and of HCA atomics. */
public enum Rmw {
  ADD,
  /** Stores the operand. */
  EXCHANGE,
  /** Stores the operand where the cell equals the compare operand. */
  COMPARE_AND_SWAP,
  AND,
  OR,
  XOR,
  MIN_SIGNED,
  MAX_SIGNED,
  MIN_UNSIGNED,
  MAX_UNSIGNED,
  /** old >= operand ? 0 : old + 1. */
  INCREMENT_WRAP,
  /** old == 0 || old > operand ? operand : old - 1. */
  DECREMENT_WRAP,
  ADD_F16X2,
  ADD_BF16X2,
  ADD_F16,
  ADD_BF16,
  ADD_F32,
  ADD_F64;

  /**
   * The new value of a cell.
   *
   * @param old the cell's value, zero-extended
   * @param bytes the cell's width: 1, 2, 4 or 8
   * @param operand the operand (for compare-and-swap: the new value)
   * @param compare the compare operand of compare-and-swap
   */
  public long apply(long old, int bytes, long operand, long compare) {
    return RmwArithmetic.apply(this, old, bytes, operand, compare);
  }

  /** The arithmetic of {@link Rmw}, with IEEE round-to-nearest-even where it is floating point. */
  private static final class RmwArithmetic {
    private RmwArithmetic() {}

    static long apply(Rmw operation, long old, int bytes, long operand, long compare) {
      long mask = bytes == 8 ? -1L : (1L << (bytes * 8)) - 1;
      long a = old & mask;
      long b = operand & mask;
      long result =
          switch (operation) {
            case ADD -> a + b;
            case EXCHANGE -> b;
            case COMPARE_AND_SWAP -> a == (compare & mask) ? b : a;
            case AND -> a & b;
            case OR -> a | b;
            case XOR -> a ^ b;
            case MIN_SIGNED -> Math.min(signed(a, bytes), signed(b, bytes));
            case MAX_SIGNED -> Math.max(signed(a, bytes), signed(b, bytes));
            case MIN_UNSIGNED -> Long.compareUnsigned(a, b) <= 0 ? a : b;
            case MAX_UNSIGNED -> Long.compareUnsigned(a, b) >= 0 ? a : b;
            case INCREMENT_WRAP -> Long.compareUnsigned(a, b) >= 0 ? 0 : a + 1;
            case DECREMENT_WRAP -> a == 0 || Long.compareUnsigned(a, b) > 0 ? b : a - 1;
            case ADD_F32 ->
                Float.floatToRawIntBits(
                        Float.intBitsToFloat((int) a) + Float.intBitsToFloat((int) b))
                    & 0xffffffffL;
            case ADD_F64 ->
                Double.doubleToRawLongBits(Double.longBitsToDouble(a) + Double.longBitsToDouble(b));
            case ADD_F16 -> addHalf((short) a, (short) b) & 0xffffL;
            case ADD_BF16 -> addBrain((short) a, (short) b) & 0xffffL;
            case ADD_F16X2 ->
                (addHalf((short) a, (short) b) & 0xffffL)
                    | (addHalf((short) (a >> 16), (short) (b >> 16)) & 0xffffL) << 16;
            case ADD_BF16X2 ->
                (addBrain((short) a, (short) b) & 0xffffL)
                    | (addBrain((short) (a >> 16), (short) (b >> 16)) & 0xffffL) << 16;
          };
      return result & mask;
    }

    private static long signed(long value, int bytes) {
      int shift = 64 - bytes * 8;
      return value << shift >> shift;
    }

    private static short addHalf(short a, short b) {
      return Float.floatToFloat16(Float.float16ToFloat(a) + Float.float16ToFloat(b));
    }

    private static short addBrain(short a, short b) {
      float sum = Float.intBitsToFloat(a << 16) + Float.intBitsToFloat(b << 16);
      int bits = Float.floatToRawIntBits(sum);
      if (Float.isNaN(sum)) {
        return (short) 0x7fff;
      }
      return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }
  }
}
