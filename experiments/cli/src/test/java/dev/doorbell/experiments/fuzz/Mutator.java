package dev.doorbell.experiments.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Makes hostile inputs of well-formed ones: flipped bits, cut and doubled pieces, pieces of other
 * inputs, words of a dictionary, extreme numbers, and pieces repeated until they nest deeply. Equal
 * draws make equal inputs.
 */
public final class Mutator {
  private static final int MOST_BYTES = 1 << 20;
  private static final int MOST_CHANGES = 8;

  /** Few inputs are large: they cost as much as hundreds of others. */
  private static final int LARGE_ONE_IN = 500;

  private static final List<byte[]> WORDS =
      bytes(
          "0",
          "-1",
          "1e999",
          "9223372036854775808",
          "4294967296",
          "0x",
          "NaN",
          "null",
          "~",
          "[]",
          "{}",
          "\"",
          "'",
          "[",
          "{",
          "]",
          "}",
          "(",
          ")",
          "&a ",
          "*a",
          "<<: *a",
          "!!str ",
          ": ",
          "- ",
          ",",
          "\n",
          "\r\n",
          "\t",
          "\0",
          "%s",
          "../",
          "\u0660",
          "\ufeff",
          "\u202e",
          "=",
          "#");

  private final List<byte[]> seeds;
  private final List<byte[]> words;

  /**
   * @param seeds at least one
   * @param dictionary words beside those that every format has
   */
  public Mutator(List<byte[]> seeds, List<byte[]> dictionary) {
    this.seeds = List.copyOf(seeds);
    List<byte[]> all = new ArrayList<>(WORDS);
    all.addAll(dictionary);
    this.words = List.copyOf(all);
  }

  /** Returns texts as bytes in UTF-8. */
  public static List<byte[]> bytes(String... texts) {
    return Arrays.stream(texts).map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
  }

  /** Returns a mutation of one of the seeds. */
  public byte[] mutate(RandomGenerator random) {
    return mutate(one(seeds, random), random);
  }

  /** Returns a mutation of an input. */
  public byte[] mutate(byte[] input, RandomGenerator random) {
    byte[] bytes = input.clone();
    for (int changes = 1 + random.nextInt(MOST_CHANGES); changes > 0; changes--) {
      bytes = change(bytes, random);
    }
    if (random.nextInt(LARGE_ONE_IN) == 0) {
      bytes = large(bytes, random);
    }
    return bytes.length > MOST_BYTES ? Arrays.copyOf(bytes, MOST_BYTES) : bytes;
  }

  private byte[] change(byte[] bytes, RandomGenerator random) {
    int at = random.nextInt(bytes.length + 1);
    int end = Math.min(bytes.length, at + 1 + random.nextInt(32));
    return switch (random.nextInt(10)) {
      case 0 -> set(bytes, at, b -> (byte) (b ^ (1 << random.nextInt(Byte.SIZE))));
      case 1 -> set(bytes, at, _ -> (byte) random.nextInt());
      case 2 -> splice(bytes, at, end, new byte[0]);
      case 3 -> splice(bytes, at, at, Arrays.copyOfRange(bytes, at, end));
      case 4 -> splice(bytes, at, at, one(words, random));
      case 5 -> splice(bytes, at, end, one(words, random));
      case 6 -> splice(bytes, at, at, piece(one(seeds, random), random));
      case 7 -> Arrays.copyOf(bytes, at);
      case 8 -> digits(bytes, at, random);
      default -> line(bytes, at, random);
    };
  }

  /** One changed byte. */
  private interface Change {
    byte of(byte old);
  }

  private static byte[] set(byte[] bytes, int at, Change change) {
    if (at < bytes.length) {
      bytes[at] = change.of(bytes[at]);
    }
    return bytes;
  }

  /** Replaces the next number by an extreme one. */
  private static byte[] digits(byte[] bytes, int from, RandomGenerator random) {
    int at = from;
    while (at < bytes.length && !digit(bytes[at])) {
      at++;
    }
    int end = at;
    while (end < bytes.length && digit(bytes[end])) {
      end++;
    }
    String number =
        switch (random.nextInt(4)) {
          case 0 -> Long.toString(random.nextLong());
          case 1 -> Long.toString(1L << random.nextInt(Long.SIZE));
          case 2 -> Integer.toString(random.nextInt(10));
          default -> "9".repeat(1 + random.nextInt(40));
        };
    return splice(bytes, at, end, number.getBytes(StandardCharsets.US_ASCII));
  }

  private static boolean digit(byte b) {
    return b >= '0' && b <= '9';
  }

  /** Doubles or removes a line. */
  private static byte[] line(byte[] bytes, int around, RandomGenerator random) {
    int at = around;
    while (at > 0 && bytes[at - 1] != '\n') {
      at--;
    }
    int end = around;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    end = Math.min(bytes.length, end + 1);
    return random.nextBoolean()
        ? splice(bytes, at, end, new byte[0])
        : splice(bytes, at, at, Arrays.copyOfRange(bytes, at, end));
  }

  /** Repeats a piece or a word many times, in place. */
  private byte[] large(byte[] bytes, RandomGenerator random) {
    byte[] piece = random.nextBoolean() ? one(words, random) : piece(bytes, random);
    int at = random.nextInt(bytes.length + 1);
    int times = Math.min(1 << random.nextInt(18), MOST_BYTES / Math.max(1, piece.length));
    ByteArrayOutputStream repeated = new ByteArrayOutputStream(piece.length * times);
    for (int i = 0; i < times; i++) {
      repeated.writeBytes(piece);
    }
    return splice(bytes, at, at, repeated.toByteArray());
  }

  private static byte[] piece(byte[] bytes, RandomGenerator random) {
    int from = random.nextInt(bytes.length + 1);
    int to = Math.min(bytes.length, from + 1 + random.nextInt(64));
    return Arrays.copyOfRange(bytes, from, to);
  }

  private static byte[] splice(byte[] bytes, int from, int to, byte[] piece) {
    byte[] spliced = Arrays.copyOf(bytes, from + piece.length + bytes.length - to);
    System.arraycopy(piece, 0, spliced, from, piece.length);
    System.arraycopy(bytes, to, spliced, from + piece.length, bytes.length - to);
    return spliced;
  }

  private static byte[] one(List<byte[]> list, RandomGenerator random) {
    return list.get(random.nextInt(list.size()));
  }
}
