package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Experts that a router chose. */
public final class Routing {
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

  int[] chosen(int rank) {
    return chosen[rank];
  }

  /** Each token draws {@code perToken} different experts, all of them equally likely. */
  public static Routing uniform(int ranks, int tokens, int perToken, int experts, long seed) {
    double[] weights = new double[experts];
    Arrays.fill(weights, 1);
    return drawn(ranks, tokens, perToken, weights, seed);
  }

  /** Likewise, with the i-th most popular expert drawn in proportion to 1/i. */
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

  int[][] counts() {
    int[][] counts = new int[chosen.length][experts];
    for (int rank = 0; rank < chosen.length; rank++) {
      for (int expert : chosen[rank]) {
        counts[rank][expert]++;
      }
    }
    return counts;
  }

  int capacity() {
    int most = 1;
    for (int[] row : counts()) {
      for (int count : row) {
        most = Math.max(most, count);
      }
    }
    return most;
  }

  /**
   * Reads a routing file: a line for each token, rank by rank, with the numbers of its experts in
   * order of choice, separated by spaces or commas. Empty lines and what follows {@code #} are
   * skipped. Lines beyond the last token are left over: a file may be longer than a point needs.
   *
   * @param name of the file, for messages
   * @param tokens of each rank
   * @param perToken experts of each token
   * @param experts of all ranks
   */
  public record RoutingFile(String name, int ranks, int tokens, int perToken, int experts) {
    private static final String CODE = "DB-P034";

    /**
     * The experts of each rank's tokens.
     *
     * @throws ConfigException when a line is none, or there are too few
     */
    public int[][] read(String text) throws ConfigException {
      int[][] chosen = new int[ranks][tokens * perToken];
      int token = 0;
      List<String> lines = text.lines().toList();
      for (int number = 1; number <= lines.size() && token < ranks * tokens; number++) {
        String line = lines.get(number - 1);
        int comment = line.indexOf('#');
        String data = (comment < 0 ? line : line.substring(0, comment)).strip();
        if (!data.isEmpty()) {
          int[] of = experts(data, number);
          System.arraycopy(of, 0, chosen[token / tokens], token % tokens * perToken, perToken);
          token++;
        }
      }
      if (token < ranks * tokens) {
        throw problem(
            lines.size(),
            "the file ends after %d tokens of %d".formatted(token, ranks * tokens),
            "it needs a line for each of %d tokens of %d ranks; use fewer tokens or ranks"
                .formatted(tokens, ranks));
      }
      return chosen;
    }

    private int[] experts(String data, int number) throws ConfigException {
      String[] words = data.split("[\\s,]+", -1);
      if (words.length != perToken) {
        throw problem(
            number,
            "%d experts".formatted(words.length),
            "give %d, as topk says, separated by spaces or commas".formatted(perToken));
      }
      int[] of = new int[perToken];
      Set<Integer> seen = new HashSet<>();
      for (int k = 0; k < perToken; k++) {
        of[k] = expert(words[k], number);
        if (!seen.add(of[k])) {
          throw problem(
              number, "expert %d twice".formatted(of[k]), "a token's experts are all different");
        }
      }
      return of;
    }

    private int expert(String word, int number) throws ConfigException {
      int expert;
      try {
        expert = Integer.parseInt(word);
      } catch (NumberFormatException e) {
        throw problem(
            number, "'%s' is no whole number".formatted(word), "write experts as numbers from 0");
      }
      if (expert < 0 || expert >= experts) {
        throw problem(
            number,
            "expert %d of %d".formatted(expert, experts),
            "use 0 to %d, or set experts".formatted(experts - 1));
      }
      return expert;
    }

    private ConfigException problem(int line, String what, String fix) {
      return new ConfigException(
          List.of(Problem.of(CODE, "%s:%d".formatted(name, line), what).fix(fix)));
    }
  }
}
