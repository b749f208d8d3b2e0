package dev.doorbell.experiments.collective;

import java.util.List;
import java.util.stream.IntStream;

/**
 * One collective among ranks, and what it computes. Numbers that ranks contribute are whole, and
 * small enough for every sum of them to be exact in its type, so that a result has the same bits in
 * whatever order it was reduced.
 *
 * @param size bytes of the larger buffer, as asked for; a buffer that is divided may be smaller
 * @param root of a broadcast or a reduce
 * @param inPlace whether the result lies where the contribution does
 * @param seed of the numbers, and of the sizes of an all-to-all-v
 * @param node consecutive ranks whose GPUs address each other's memory; 1 where none do
 * @param from where this part of a larger call begins in each of its buffers, or of their blocks
 * @param whole bytes of the larger buffer of that call
 */
public record Call(
    Collective collective,
    int ranks,
    long size,
    DataType type,
    Reduction reduction,
    int root,
    boolean inPlace,
    long seed,
    int node,
    long from,
    long whole) {
  private static final int LINE = 16;

  /** Numbers of a result that are reduced together: they stay in the host's cache. */
  private static final int AT_ONCE = 4096;

  /** A call among ranks that their HCAs alone join. */
  public Call(
      Collective collective,
      int ranks,
      long size,
      DataType type,
      Reduction reduction,
      int root,
      boolean inPlace,
      long seed) {
    this(collective, ranks, size, type, reduction, root, inPlace, seed, 1);
  }

  /** A call of its own. */
  public Call(
      Collective collective,
      int ranks,
      long size,
      DataType type,
      Reduction reduction,
      int root,
      boolean inPlace,
      long seed,
      int node) {
    this(collective, ranks, size, type, reduction, root, inPlace, seed, node, 0, size);
  }

  /** The same call over a part of the buffers, or of each of their blocks. */
  Call part(long at, long bytes) {
    long size = collective.divides() ? bytes * ranks : bytes;
    return new Call(collective, ranks, size, type, reduction, root, inPlace, seed, node, at, whole);
  }

  /** Bytes of a block, or of the whole buffer where it is not divided. */
  public long block() {
    return collective.block(size, ranks);
  }

  /** Returns where the block of a rank begins in a buffer that is divided. */
  long blockAt(int rank) {
    return rank * collective.block(whole, ranks);
  }

  /** Bytes that a rank contributes. */
  public long sendBytes() {
    return collective.sendBytes(size, ranks);
  }

  /** Bytes of a rank's result. */
  public long receiveBytes() {
    return collective.receiveBytes(size, ranks);
  }

  /** Bytes of an all-to-all that rank {@code from} sends to rank {@code to}; a multiple of 16. */
  long exchanged(int from, int to) {
    if (collective == Collective.ALL_TO_ALL) {
      return block();
    }
    long lines = block() / LINE;
    return Long.remainderUnsigned(
            Contribution.mix(seed ^ ((long) from << Integer.SIZE | to)), lines + 1)
        * LINE;
  }

  /** Returns where the send buffer begins in an arena. */
  long sendAt(int rank) {
    if (!inPlace) {
      return from;
    }
    // As the calls define it: in its block of the result, or the result in a block of it.
    return from + (collective == Collective.ALL_GATHER ? blockAt(rank) : 0);
  }

  /** Returns where the receive buffer begins in an arena. */
  public long receiveAt(int rank) {
    if (!inPlace) {
      return from + padded(collective.sendBytes(whole, ranks));
    }
    return from + (collective == Collective.REDUCE_SCATTER ? blockAt(rank) : 0);
  }

  /** Returns where scratch memory begins in an arena. */
  public long scratchAt() {
    long sent = collective.sendBytes(whole, ranks);
    long received = collective.receiveBytes(whole, ranks);
    return inPlace ? padded(Math.max(sent, received)) : padded(sent) + padded(received);
  }

  static long padded(long bytes) {
    return (bytes + LINE - 1) / LINE * LINE;
  }

  /** A rank's arena before the call: its contribution, and zeros elsewhere. */
  public byte[] before(int rank) {
    byte[] arena = new byte[Math.toIntExact(scratchAt())];
    fill(arena, Math.toIntExact(sendAt(rank)), rank, 0, Math.toIntExact(sendBytes()));
    return arena;
  }

  /** Number {@code element} of a rank's contribution. */
  int value(int rank, long element) {
    return contribution(rank).at(element);
  }

  private Contribution contribution(int rank) {
    boolean sums = collective.reduces() && reduction == Reduction.SUM;
    int most = sums ? type.exact() / ranks : 100;
    if (most == 0) {
      // 256 ranks of bfloat16 have one number each, 0 or 1; beyond, further ranks contribute zeros.
      return new Contribution(seed, rank, rank < type.exact() ? 2 : 0, 0);
    }
    int bound = Math.min(most, 100);
    // Negative ones as well, where sums of both signs stay exact.
    return new Contribution(seed, rank, bound + 1, sums ? 0 : -(bound / 2));
  }

  /** The reduction of all contributions: what an all-reduce computes. */
  public byte[] reduced() {
    byte[] all = new byte[Math.toIntExact(sendBytes())];
    List<Contribution> contributions =
        IntStream.range(0, ranks).mapToObj(this::contribution).toList();
    int count = all.length / type.bytes();
    int[] sums = new int[Math.min(count, AT_ONCE)];
    for (int start = 0; start < count; start += sums.length) {
      int some = Math.min(sums.length, count - start);
      reduce(contributions, start, sums, some);
      for (int i = 0; i < some; i++) {
        type.put(all, (start + i) * type.bytes(), sums[i]);
      }
    }
    return all;
  }

  private void reduce(List<Contribution> contributions, int start, int[] sums, int count) {
    for (int i = 0; i < count; i++) {
      sums[i] = contributions.getFirst().at(start + i);
    }
    for (Contribution other : contributions.subList(1, contributions.size())) {
      for (int i = 0; i < count; i++) {
        sums[i] = reduction.of(sums[i], other.at(start + i));
      }
    }
  }

  /**
   * A rank's result, computed plainly.
   *
   * @param reduced {@link #reduced} where the collective reduces
   * @return as many bytes as its receive buffer has; empty where it has no result
   */
  public byte[] expected(int rank, byte[] reduced) {
    boolean anew = collective != Collective.ALL_REDUCE && collective != Collective.REDUCE;
    byte[] result = new byte[anew ? Math.toIntExact(receiveBytes()) : 0];
    int blockBytes = Math.toIntExact(block());
    return switch (collective) {
      case ALL_REDUCE -> reduced;
      case REDUCE -> rank == root ? reduced : new byte[0];
      case REDUCE_SCATTER -> {
        System.arraycopy(reduced, rank * blockBytes, result, 0, blockBytes);
        yield result;
      }
      case BROADCAST -> {
        fill(result, 0, root, 0, result.length);
        yield result;
      }
      case ALL_GATHER -> {
        for (int from = 0; from < ranks; from++) {
          fill(result, from * blockBytes, from, 0, blockBytes);
        }
        yield result;
      }
      case ALL_TO_ALL, ALL_TO_ALL_V -> {
        for (int from = 0; from < ranks; from++) {
          int bytes = Math.toIntExact(from == rank ? block() : exchanged(from, rank));
          fill(result, from * blockBytes, from, (long) rank * blockBytes, bytes);
        }
        yield result;
      }
      case BARRIER -> result;
    };
  }

  /** Numbers of a rank's contribution, from byte {@code offset} of it on, to byte {@code at}. */
  private void fill(byte[] to, int at, int rank, long offset, int bytes) {
    Contribution numbers = contribution(rank);
    long first = offset / type.bytes();
    for (int element = 0; element < bytes / type.bytes(); element++) {
      type.put(to, at + element * type.bytes(), numbers.at(first + element));
    }
  }

  /**
   * The whole numbers that one rank contributes. Results of many ranks are sums of hundreds of
   * millions of them, so that drawing one takes no division.
   */
  static final class Contribution {
    private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

    private final long base;

    /** Number of different values; 0: the rank contributes zeros. */
    private final int numbers;

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
      // The remainder of a division rounded down; below 2^33 the rounding of the inverse is too
      // small
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

  public enum Reduction {
    SUM(0),
    MAX(1),
    MIN(2);

    private final int code;

    Reduction(int code) {
      this.code = code;
    }

    /** {@code DOORBELL_REDUCE_*} of collective_abi.h. */
    public int code() {
      return code;
    }

    int of(int a, int b) {
      return switch (this) {
        case SUM -> a + b;
        case MAX -> Math.max(a, b);
        case MIN -> Math.min(a, b);
      };
    }
  }
}
