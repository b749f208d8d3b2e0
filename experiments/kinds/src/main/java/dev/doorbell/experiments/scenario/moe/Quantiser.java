package dev.doorbell.experiments.scenario.moe;

/**
 * The kernel's arithmetic, computed independently of it: E4M3 with a scale for each group, BF16,
 * and sums in single precision. All of it rounds to the nearest, ties to even.
 */
final class Quantiser {
  /** Elements that share a scale. */
  static final int GROUP = 128;

  private static final float LARGEST = 448;

  /** All of E4M3's magnitudes, by their bits: 0 to 448. */
  private static final float[] MAGNITUDES = new float[127];

  static {
    for (int bits = 0; bits < MAGNITUDES.length; bits++) {
      int exponent = bits >> 3;
      int mantissa = bits & 7;
      MAGNITUDES[bits] =
          exponent == 0 ? mantissa * 0x1p-9f : (float) Math.scalb(1 + mantissa / 8.0, exponent - 7);
    }
  }

  private Quantiser() {}

  static float fromBfloat(short bits) {
    return Float.intBitsToFloat(bits << Short.SIZE);
  }

  static short toBfloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  static float scale(short[] elements, int from) {
    float largest = 0;
    for (int i = 0; i < GROUP; i++) {
      largest = Math.max(largest, Math.abs(fromBfloat(elements[from + i])));
    }
    return largest == 0 ? 1 : largest / LARGEST;
  }

  static byte toFp8(float value) {
    float magnitude = Math.abs(value);
    int below = 0;
    int above = MAGNITUDES.length - 1;
    while (above - below > 1) {
      int middle = (below + above) / 2;
      if (MAGNITUDES[middle] <= magnitude) {
        below = middle;
      } else {
        above = middle;
      }
    }
    float down = magnitude - MAGNITUDES[below];
    float up = MAGNITUDES[above] - magnitude;
    int nearest = down < up || (down == up && below % 2 == 0) ? below : above;
    return (byte) (nearest | (Float.floatToRawIntBits(value) < 0 ? 0x80 : 0));
  }

  static float fromFp8(byte bits) {
    float magnitude = MAGNITUDES[bits & 0x7f];
    return bits < 0 ? -magnitude : magnitude;
  }
}
