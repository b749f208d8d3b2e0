package dev.doorbell.experiments.collective;

/**
 * The whole numbers that one rank contributes. Results of many ranks are sums of hundreds of
 * millions of them, so that drawing one takes no division.
 */
final class Contribution {
  private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

  private final long base;

  /** How many different numbers there are; 0: the rank contributes zeros. */
  private final int numbers;

  /** The least of them. */
  private final int least;

  /** A multiple of {@link #numbers} that makes every int positive. */
  private final long positive;

  /** 2^64 / {@link #numbers}, rounded up. */
  private final long inverse;

  /**
   * @param numbers how many different ones there may be; 0: zeros alone, else 2 at least
   * @param least the least of them
   */
  Contribution(long seed, int rank, int numbers, int least) {
    this.base = seed + rank * GOLDEN;
    this.numbers = numbers;
    this.least = least;
    this.positive = numbers == 0 ? 0 : Math.ceilDiv(1L << 31, numbers) * numbers;
    this.inverse = numbers == 0 ? 0 : Long.divideUnsigned(-1, numbers) + 1;
  }

  /** Number {@code element}. */
  int at(long element) {
    if (numbers == 0) {
      return 0;
    }
    // The remainder of a division rounded down; below 2^33 the rounding of the inverse is too small
    // to show.
    long bits = (int) (mix(base + element) >>> Integer.SIZE) + positive;
    return (int) (bits - Math.unsignedMultiplyHigh(bits, inverse) * numbers) + least;
  }

  static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
