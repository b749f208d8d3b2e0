package dev.doorbell.core.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operation against arithmetic on big integers and big decimals. */
class RmwTest {
  private static final List<Rmw> FLOATING =
      List.of(Rmw.ADD_F16, Rmw.ADD_BF16, Rmw.ADD_F16X2, Rmw.ADD_BF16X2, Rmw.ADD_F32, Rmw.ADD_F64);

  static Stream<Rmw> integerOperations() {
    return Arrays.stream(Rmw.values()).filter(operation -> !FLOATING.contains(operation));
  }

  @ParameterizedTest
  @MethodSource("integerOperations")
  void integer_operations_agree_with_big_integers(Rmw operation) {
    long seed = 0x2b1d;
    SplittableRandom random = new SplittableRandom(seed);
    for (int bytes : new int[] {1, 2, 4, 8}) {
      for (int round = 0; round < 4_000; round++) {
        long old = value(random, bytes);
        long operand = random.nextInt(8) == 0 ? old : value(random, bytes);
        long compare = random.nextBoolean() ? old : value(random, bytes);
        // What lies above the cell's width must not matter.
        long dirt = bytes == 8 ? 0 : random.nextLong() << (8 * bytes);
        assertThat(operation.apply(old, bytes, operand | dirt, compare | dirt))
            .as(
                "seed %d round %d bytes %d old %x operand %x compare %x",
                seed, round, bytes, old, operand, compare)
            .isEqualTo(expected(operation, bytes, old, operand, compare));
      }
    }
  }

  private static long expected(Rmw operation, int bytes, long old, long operand, long compare) {
    BigInteger modulus = BigInteger.ONE.shiftLeft(8 * bytes);
    BigInteger a = unsigned(old);
    BigInteger b = unsigned(operand);
    BigInteger result =
        switch (operation) {
          case ADD -> a.add(b);
          case EXCHANGE -> b;
          case COMPARE_AND_SWAP -> a.equals(unsigned(compare)) ? b : a;
          case AND -> a.and(b);
          case OR -> a.or(b);
          case XOR -> a.xor(b);
          case MIN_UNSIGNED -> a.min(b);
          case MAX_UNSIGNED -> a.max(b);
          case MIN_SIGNED -> signed(a, modulus).min(signed(b, modulus));
          case MAX_SIGNED -> signed(a, modulus).max(signed(b, modulus));
          case INCREMENT_WRAP -> a.compareTo(b) >= 0 ? BigInteger.ZERO : a.add(BigInteger.ONE);
          case DECREMENT_WRAP ->
              a.signum() == 0 || a.compareTo(b) > 0 ? b : a.subtract(BigInteger.ONE);
          default -> throw new IllegalArgumentException(operation.name());
        };
    return result.mod(modulus).longValue();
  }

  private static BigInteger unsigned(long value) {
    return new BigInteger(Long.toUnsignedString(value));
  }

  private static BigInteger signed(BigInteger value, BigInteger modulus) {
    return value.testBit(modulus.bitLength() - 2) ? value.subtract(modulus) : value;
  }

  /** Random, but often at the ends of the range. */
  private static long value(SplittableRandom random, int bytes) {
    long mask = bytes == 8 ? -1L : (1L << (8 * bytes)) - 1;
    long value =
        switch (random.nextInt(6)) {
          case 0 -> random.nextInt(3);
          case 1 -> -1L - random.nextInt(3);
          case 2 -> (mask >>> 1) + random.nextInt(3) - 1;
          default -> random.nextLong();
        };
    return value & mask;
  }

  @ParameterizedTest
  @CsvSource({"ADD_F16, 10, 5, 2", "ADD_BF16, 7, 8, 2"})
  void half_precision_sums_are_rounded_to_nearest_even(
      Rmw operation, int fractionBits, int exponentBits, int bytes) {
    long seed = 99;
    SplittableRandom random = new SplittableRandom(seed);
    Format format = new Format(fractionBits, exponentBits);
    for (int round = 0; round < 20_000; round++) {
      int a = random.nextInt(1 << 16);
      // Neighbouring exponents, where rounding happens.
      int b = random.nextBoolean() ? random.nextInt(1 << 16) : a ^ random.nextInt(1 << 12);
      if (format.isSpecial(a) || format.isSpecial(b)) {
        continue;
      }
      long sum = operation.apply(a, bytes, b, 0);
      BigDecimal exact = format.value(a).add(format.value(b));
      assertThat(format.isNearestEven((int) sum, exact))
          .as("seed %d round %d: %04x + %04x = %04x", seed, round, a, b, sum)
          .isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"ADD_F16X2, ADD_F16", "ADD_BF16X2, ADD_BF16"})
  void packed_sums_are_two_sums(Rmw packed, Rmw single) {
    SplittableRandom random = new SplittableRandom(3);
    for (int round = 0; round < 5_000; round++) {
      long a = random.nextInt() & 0xffff_ffffL;
      long b = random.nextInt() & 0xffff_ffffL;
      long low = single.apply(a & 0xffff, 2, b & 0xffff, 0);
      long high = single.apply(a >>> 16, 2, b >>> 16, 0);
      assertThat(packed.apply(a, 4, b, 0)).as("%x + %x", a, b).isEqualTo(high << 16 | low);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ADD_F32, 4, 3f800000, 40000000, 40400000",
    "ADD_F32, 4, 4b800000, 3f800000, 4b800000", // 2^24 + 1 is even already
    "ADD_F32, 4, 4b800001, 3f800000, 4b800002",
    "ADD_F32, 4, 7f7fffff, 7f7fffff, 7f800000",
    "ADD_F32, 4, bf800000, 3f800000, 00000000",
    "ADD_F32, 4, 80000000, 80000000, 80000000",
    "ADD_F64, 8, 3ff0000000000000, 4000000000000000, 4008000000000000",
    "ADD_F64, 8, 4340000000000000, 3ff0000000000000, 4340000000000000",
    "ADD_F64, 8, 7fefffffffffffff, 7fefffffffffffff, 7ff0000000000000",
    "ADD_F16, 2, 3c00, 4000, 4200",
    "ADD_F16, 2, 7bff, 7bff, 7c00",
    "ADD_F16, 2, 0001, 0001, 0002",
    "ADD_BF16, 2, 3f80, 4000, 4040",
    "ADD_BF16, 2, 7f7f, 7f7f, 7f80",
    "ADD_BF16, 2, 0001, 0001, 0002",
  })
  void sums_at_the_edges(Rmw operation, int bytes, String a, String b, String sum) {
    assertThat(
            operation.apply(Long.parseUnsignedLong(a, 16), bytes, Long.parseUnsignedLong(b, 16), 0))
        .isEqualTo(Long.parseUnsignedLong(sum, 16));
  }

  @ParameterizedTest
  @CsvSource({
    "ADD_F16, 7c00, fc00, 7c00, 2",
    "ADD_BF16, 7f80, ff80, 7f80, 2",
    "ADD_F32, 7f800000, ff800000, 7f800000, 4"
  })
  void infinity_minus_infinity_is_not_a_number(
      Rmw operation, String a, String b, String infinity, int bytes) {
    long sum =
        operation.apply(Long.parseUnsignedLong(a, 16), bytes, Long.parseUnsignedLong(b, 16), 0);
    long exponent = Long.parseUnsignedLong(infinity, 16);
    assertThat(sum & exponent).isEqualTo(exponent);
    assertThat(sum & ~exponent).isNotZero();
  }

  /** A 16-bit binary floating-point format. */
  private record Format(int fractionBits, int exponentBits) {
    private int magnitudeOfInfinity() {
      return ((1 << exponentBits) - 1) << fractionBits;
    }

    boolean isSpecial(int bits) {
      return (bits & 0x7fff) >= magnitudeOfInfinity();
    }

    /** The exact value; infinity stands for the first power of two that is too large. */
    BigDecimal value(int bits) {
      int exponent = (bits & 0x7fff) >>> fractionBits;
      int fraction = bits & ((1 << fractionBits) - 1);
      int bias = (1 << (exponentBits - 1)) - 1;
      int significand = exponent == 0 ? fraction : fraction | 1 << fractionBits;
      int power = Math.max(exponent, 1) - bias - fractionBits;
      BigDecimal scale =
          power >= 0
              ? BigDecimal.TWO.pow(power)
              : BigDecimal.ONE.divide(BigDecimal.TWO.pow(-power));
      BigDecimal magnitude = scale.multiply(BigDecimal.valueOf(significand));
      return bits >= 0x8000 ? magnitude.negate() : magnitude;
    }

    /** No other value of the format is nearer to {@code exact}; of two as near, it is even. */
    boolean isNearestEven(int bits, BigDecimal exact) {
      int magnitude = bits & 0x7fff;
      if (exact.signum() == 0) {
        return magnitude == 0;
      }
      if (bits >= 0x8000 != exact.signum() < 0 || magnitude > magnitudeOfInfinity()) {
        return false;
      }
      BigDecimal target = exact.abs();
      BigDecimal error = value(magnitude).subtract(target).abs();
      for (int other : new int[] {magnitude - 1, magnitude + 1}) {
        if (other < 0 || other > magnitudeOfInfinity()) {
          continue;
        }
        int order = value(other).subtract(target).abs().compareTo(error);
        if (order < 0 || (order == 0 && (magnitude & 1) != 0)) {
          return false;
        }
      }
      return true;
    }
  }
}
