package dev.doorbell.experiments.scenario.congestion;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/** Who sends to whom. */
enum Traffic {
  /** All others to rank 0. */
  INCAST(2),
  /** Ranks 2 and above but the last to rank 0, and the last one, the victim, to rank 1. */
  VICTIM(5),
  /** Each to one other, drawn by the seed so that all are one cycle. */
  PERMUTATION(2),
  /** Each to each. */
  ALL_TO_ALL(2);

  private final int fewest;

  Traffic(int fewest) {
    this.fewest = fewest;
  }

  /** One rank's messages to another. */
  record Flow(int from, int to) {}

  int fewestRanks() {
    return fewest;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The flows among {@code ranks}; the victim's own flow is the last. */
  List<Flow> flows(int ranks, long seed) {
    List<Flow> flows = new ArrayList<>();
    switch (this) {
      case INCAST -> {
        for (int from = 1; from < ranks; from++) {
          flows.add(new Flow(from, 0));
        }
      }
      case VICTIM -> {
        for (int from = 2; from < ranks - 1; from++) {
          flows.add(new Flow(from, 0));
        }
        flows.add(new Flow(ranks - 1, 1));
      }
      case PERMUTATION -> {
        int[] to = cycle(ranks, seed);
        for (int from = 0; from < ranks; from++) {
          flows.add(new Flow(from, to[from]));
        }
      }
      case ALL_TO_ALL -> {
        for (int distance = 1; distance < ranks; distance++) {
          for (int from = 0; from < ranks; from++) {
            flows.add(new Flow(from, (from + distance) % ranks));
          }
        }
      }
    }
    return flows;
  }

  /** Sattolo's algorithm: a permutation that is one cycle. */
  private static int[] cycle(int ranks, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] to = new int[ranks];
    for (int i = 0; i < ranks; i++) {
      to[i] = i;
    }
    for (int i = ranks - 1; i > 0; i--) {
      int other = random.nextInt(i);
      int kept = to[i];
      to[i] = to[other];
      to[other] = kept;
    }
    return to;
  }
}
