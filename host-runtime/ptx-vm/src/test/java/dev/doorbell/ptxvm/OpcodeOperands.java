package dev.doorbell.ptxvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** The operands of {@link OpcodeProgram}'s kernels: edges of each type among random bits. */
final class OpcodeOperands {
  /** Operands of one lane. */
  static final int COUNT = 4;

  private static final long SEED = 20_250_711;

  private OpcodeOperands() {}

  /** Operands of all lanes for {@code inputs}: edges first, then random bits. */
  static byte[] of(char inputs) {
    SplittableRandom random = new SplittableRandom(SEED + inputs);
    ByteBuffer buffer =
        ByteBuffer.allocate(OpcodeProgram.LANES * COUNT * Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      buffer.putLong(value(inputs, random));
    }
    return buffer.array();
  }

  @SuppressWarnings("FloatingPointLiteralPrecision") // the nearest float is meant
  private static long value(char inputs, SplittableRandom random) {
    boolean edge = random.nextInt(3) == 0;
    return switch (inputs) {
      case 'i' ->
          edge
              ? pick(
                  random,
                  0,
                  1,
                  -1,
                  2,
                  31,
                  32,
                  63,
                  64,
                  255,
                  0x8000,
                  0x7fff,
                  0x80000000L,
                  0x7fffffffL,
                  0xffffffffL,
                  Long.MIN_VALUE,
                  Long.MAX_VALUE)
              : random.nextInt(4) == 0
                  ? random.nextLong() >> random.nextInt(64)
                  : random.nextLong();
      case 'f' ->
          edge
              ? Float.floatToRawIntBits(
                      pick(
                          random,
                          0f,
                          -0f,
                          1f,
                          -1f,
                          0.5f,
                          1.5f,
                          2.5f,
                          -3.5f,
                          1e-40f,
                          -1e-45f,
                          3.4e38f,
                          -3.4e38f,
                          65504f,
                          65520f,
                          2147000064f,
                          Float.POSITIVE_INFINITY,
                          Float.NEGATIVE_INFINITY,
                          Float.NaN))
                  & 0xffffffffL
              : random.nextBoolean()
                  ? random.nextInt() & 0xffffffffL
                  : Float.floatToRawIntBits((float) (random.nextDouble() * 2000 - 1000))
                      & 0xffffffffL;
      case 'd' ->
          edge
              ? Double.doubleToRawLongBits(
                  pick(
                      random,
                      0.0,
                      -0.0,
                      1.0,
                      -1.0,
                      0.5,
                      2.5,
                      -3.5,
                      1e-310,
                      -4.9e-324,
                      1.7e308,
                      -1.7e308,
                      1e-42,
                      3.5e38,
                      4294967295.5,
                      9.3e18,
                      -9.3e18,
                      Double.POSITIVE_INFINITY,
                      Double.NEGATIVE_INFINITY))
              : random.nextBoolean()
                  ? random.nextLong()
                  : Double.doubleToRawLongBits(random.nextDouble() * 2e6 - 1e6);
      case 'h' ->
          edge
              ? pick(
                      random, 0, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x7bff, 0xfbff, 0x7c00,
                      0xfc00, 0x7fff)
                  * 0x10001
              : random.nextInt() & 0xffffffffL;
      default ->
          edge
              ? pick(
                      random, 0, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x807f, 0x7f7f, 0xff7f, 0x7f80,
                      0xff80, 0x7fff)
                  * 0x10001
              : random.nextInt() & 0xffffffffL;
    };
  }

  private static long pick(SplittableRandom random, long... values) {
    return values[random.nextInt(values.length)];
  }

  private static float pick(SplittableRandom random, float... values) {
    return values[random.nextInt(values.length)];
  }

  private static double pick(SplittableRandom random, double... values) {
    return values[random.nextInt(values.length)];
  }
}
