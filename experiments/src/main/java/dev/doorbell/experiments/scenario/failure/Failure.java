package dev.doorbell.experiments.scenario.failure;

import dev.doorbell.push.network.SwitchedNetwork;
import java.util.stream.IntStream;

/** What fails. Rank 1 and its rail are as good as any other. */
enum Failure {
  /** Nothing: not such an experiment. */
  NONE,
  /** A rank: its kernel stops where it is, and its HCA sends and receives nothing. */
  RANK,
  /** The cable of a rank's HCA: its GPU goes on. */
  LINK,
  /** The leaf of a rail: the HCAs of that place in all nodes reach nobody. */
  RAIL,
  /** A switch between rails: others lead the same way. */
  SPINE;

  /** The rank that fails, or whose cable or leaf does. */
  static final int STRUCK = 1;

  /** Until switches have left a failed one out of their ways. Assumed: BFD at 3 x 50 us. */
  static final long CONVERGENCE_NANOS = 150_000;

  /** Breaks it. The kernel of a rank is stopped by whoever launched it. */
  void strike(SwitchedNetwork network) {
    switch (this) {
      case NONE -> {}
      case RANK, LINK -> network.cut(STRUCK);
      case RAIL -> network.stop(network.leaf(STRUCK), CONVERGENCE_NANOS);
      case SPINE -> network.stop(network.spines().getFirst(), CONVERGENCE_NANOS);
    }
  }

  /** Whether hosts hear of it on another way than through their HCAs: the process is gone. */
  boolean stops(int rank) {
    return this == RANK && rank == STRUCK;
  }

  /** Those that can still compute. */
  int[] alive(int ranks) {
    return IntStream.range(0, ranks).filter(rank -> !stops(rank)).toArray();
  }
}
