package dev.doorbell.experiments.scenario.moe;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Which experts a router chose. */
public final class Routing {
  /** Exponent of the popularity of experts under Zipf's law. */
  private static final double ZIPF = 1;

  private final int experts;
  private final int[][] chosen;

  /**
   * @param experts of all ranks
   * @param chosen of each rank: the experts of token t at [t * k, (t + 1) * k), all different
   */
  Routing(int experts, int[][] chosen) {
    this.experts = experts;
    this.chosen = chosen;
  }

  int experts() {
    return experts;
  }

  /** The experts of a rank's tokens, token by token. */
  int[] chosen(int rank) {
    return chosen[rank];
  }

  /** Each token draws {@code perToken} different experts, all of them equally likely. */
  public static Routing uniform(int ranks, int tokens, int perToken, int experts, long seed) {
    double[] weights = new double[experts];
    Arrays.fill(weights, 1);
    return drawn(ranks, tokens, perToken, weights, seed);
  }

  /** As {@link #uniform}, with the i-th most popular expert drawn in proportion to 1/i. */
  static Routing zipf(int ranks, int tokens, int perToken, int experts, long seed) {
    double[] weights = new double[experts];
    for (int expert = 0; expert < experts; expert++) {
      weights[expert] = 1 / Math.pow(expert + 1.0, ZIPF);
    }
    // Popular experts are spread over the ranks.
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = experts - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      double kept = weights[i];
      weights[i] = weights[other];
      weights[other] = kept;
    }
    return drawn(ranks, tokens, perToken, weights, seed + 1);
  }

  /**
   * Draws without replacement by weight: the largest of u^(1/w) (Efraimidis and Spirakis, 2006).
   */
  private static Routing drawn(int ranks, int tokens, int perToken, double[] weights, long seed) {
    int[][] chosen = new int[ranks][tokens * perToken];
    SplittableRandom random = new SplittableRandom(seed);
    double[] keys = new double[weights.length];
    for (int rank = 0; rank < ranks; rank++) {
      for (int token = 0; token < tokens; token++) {
        for (int expert = 0; expert < keys.length; expert++) {
          keys[expert] = Math.log(1 - random.nextDouble()) / weights[expert];
        }
        for (int k = 0; k < perToken; k++) {
          int best = 0;
          for (int expert = 1; expert < keys.length; expert++) {
            best = keys[expert] > keys[best] ? expert : best;
          }
          chosen[rank][token * perToken + k] = best;
          keys[best] = Double.NEGATIVE_INFINITY;
        }
      }
    }
    return new Routing(weights.length, chosen);
  }

  /** Messages from each rank to each expert. */
  int[][] counts() {
    int[][] counts = new int[chosen.length][experts];
    for (int rank = 0; rank < chosen.length; rank++) {
      for (int expert : chosen[rank]) {
        counts[rank][expert]++;
      }
    }
    return counts;
  }

  /** The most messages from one rank to one expert. */
  int capacity() {
    int most = 1;
    for (int[] row : counts()) {
      for (int count : row) {
        most = Math.max(most, count);
      }
    }
    return most;
  }
}
