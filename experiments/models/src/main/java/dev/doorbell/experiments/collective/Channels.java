package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Segments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Channels of a collective: parts of its buffers, each with a schedule of its own over the same
 * arenas, which blocks of a GPU execute side by side.
 */
public final class Channels {
  private Channels() {}

  /** Returns how many channels an algorithm can have: where messages carry parts of one block. */
  public static int most(Algorithm algorithm, Collective collective, int wanted) {
    boolean divides =
        switch (collective) {
          case ALL_REDUCE, BROADCAST, REDUCE -> true;
          case REDUCE_SCATTER, ALL_GATHER -> algorithm != Algorithm.HALVING;
          case ALL_TO_ALL -> algorithm == Algorithm.DIRECT;
          case ALL_TO_ALL_V, BARRIER -> false;
        };
    return divides ? wanted : 1;
  }

  /**
   * The schedules of at most {@code count} channels; of fewer where parts would be empty.
   *
   * @param mostPacked bytes of the longest message that has its flag in the data
   * @param chunk bytes of the longest message of a ring or a tree
   */
  public static List<Schedule> of(
      Algorithm algorithm, Call call, long mostPacked, long chunk, int count) {
    if (most(algorithm, call.collective(), count) == 1) {
      return List.of(algorithm.schedule(call, mostPacked, chunk));
    }
    Segments parts = new Segments(call.block(), count);
    long[] used = new long[call.ranks()];
    Arrays.fill(used, call.scratchAt());
    List<Schedule> channels = new ArrayList<>();
    for (int i = 0; i == 0 || (i < count && parts.bytes(i) > 0); i++) {
      Call part = call.part(parts.from(i), parts.bytes(i));
      channels.add(
          algorithm.schedule(part, i, new Schedule.Builder(part, used, mostPacked, chunk)));
    }
    return channels;
  }
}
