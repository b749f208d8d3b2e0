package dev.doorbell.experiments.collective;

import static dev.doorbell.experiments.collective.Collective.ALL_REDUCE;
import static dev.doorbell.experiments.collective.Collective.ALL_TO_ALL_V;
import static dev.doorbell.experiments.collective.Collective.BARRIER;

import dev.doorbell.experiments.collective.Schedule.Segments;
import java.util.Arrays;
import java.util.List;

/** Algorithms that make a collective of messages between two ranks. */
public enum Algorithm {
  /** Each rank sends to the next one alone; a broadcast or a reduce goes along a chain. */
  RING,
  /** All-reduce: two binary trees with half of the data each. Others: a binomial tree. */
  TREE,
  /** Recursive halving and doubling; of a barrier, dissemination. */
  HALVING,
  /** Everybody sends to everybody. */
  DIRECT,
  /** NVLink inside of a node; between nodes, each rank with those of its place in a node. */
  HIERARCHICAL,
  /** NVLink SHARP: the switch of a node adds the segment of each rank and stores it in all GPUs. */
  NVLS;

  /**
   * Returns whether it performs a collective among {@code ranks}.
   *
   * @param node ranks of a node, 1 where no GPU addresses another's memory
   */
  public boolean makes(Collective collective, int ranks, int node) {
    return switch (this) {
      case RING -> collective != BARRIER && !collective.exchanges();
      case TREE -> collective == ALL_REDUCE || collective.rooted();
      case HALVING ->
          collective == ALL_REDUCE
              || collective == BARRIER
              || (collective.divides() && !collective.exchanges() && Integer.bitCount(ranks) == 1);
      case DIRECT -> true;
      case HIERARCHICAL ->
          node > 1
              && ranks > node
              && ranks % node == 0
              && collective != ALL_TO_ALL_V
              && collective != BARRIER;
      case NVLS -> node > 1 && ranks <= node && collective == ALL_REDUCE;
    };
  }

  public static List<Algorithm> of(Collective collective, int ranks, int node) {
    return Arrays.stream(values()).filter(each -> each.makes(collective, ranks, node)).toList();
  }

  /**
   * The steps of all ranks.
   *
   * @param mostPacked bytes of the longest message that has its flag in the data; 0 for none
   * @param chunk bytes of the longest message of a ring or a tree; a multiple of 16
   */
  public Schedule schedule(Call call, long mostPacked, long chunk) {
    long[] used = new long[call.ranks()];
    Arrays.fill(used, call.scratchAt());
    return schedule(call, 0, new Schedule.Builder(call, used, mostPacked, chunk));
  }

  /** Returns the steps of one of several channels; channels leave a node by different HCAs. */
  Schedule schedule(Call call, int channel, Schedule.Builder in) {
    switch (this) {
      case RING -> Ring.of(call, in, channel);
      case TREE -> Tree.of(call, in);
      case HALVING -> Halving.of(call, in);
      case DIRECT -> Direct.of(call, in);
      case HIERARCHICAL -> Hierarchical.of(call, in);
      case NVLS -> inSwitch(call, in);
    }
    return in.build();
  }

  /** All contributions are there, and behind it all sums. */
  private static void inSwitch(Call call, Schedule.Builder in) {
    Segments segments = new Segments(call.sendBytes(), call.ranks());
    dissemination(in);
    for (int rank = 0; rank < call.ranks(); rank++) {
      long at = segments.from(rank);
      if (segments.bytes(rank) > 0) {
        in.at(rank)
            .addInSwitch(call.sendAt(rank) + at, call.receiveAt(rank) + at, segments.bytes(rank))
            .end();
      }
    }
    dissemination(in);
  }

  /**
   * A barrier of Hensgen, Finkel and Manber: in round k a rank tells the one 2^k further that it
   * has come, and so have all whom it has heard of.
   */
  static void dissemination(Schedule.Builder in) {
    int ranks = in.ranks();
    for (int distance = 1; distance < ranks; distance *= 2) {
      Message[] sent = new Message[ranks];
      for (int rank = 0; rank < ranks; rank++) {
        sent[rank] = in.at(rank).put((rank + distance) % ranks, 0, 0, 0);
      }
      for (int rank = 0; rank < ranks; rank++) {
        in.at(rank).receive(sent[Math.floorMod(rank - distance, ranks)]).end();
      }
    }
  }
}
