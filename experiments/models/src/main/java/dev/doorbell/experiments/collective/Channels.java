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

  /** Returns how many channels a collective can have: only whole buffers divide into parts. */
  public static int most(Collective collective, int wanted) {
    return collective.divides() || collective == Collective.BARRIER ? 1 : wanted;
  }

  /**
   * The schedules of at most {@code count} channels; of fewer where parts would be empty.
   *
   * @param mostPacked bytes of the longest message that has its flag in the data
   * @param chunk bytes of the longest message of a ring or a tree
   */
  public static List<Schedule> of(
      Algorithm algorithm, Call call, long mostPacked, long chunk, int count) {
    if (most(call.collective(), count) == 1) {
      return List.of(algorithm.schedule(call, mostPacked, chunk));
    }
    Segments parts = new Segments(call.size(), count);
    long[] used = new long[call.ranks()];
    Arrays.fill(used, call.scratchAt());
    List<Schedule> channels = new ArrayList<>();
    for (int i = 0; i < count && parts.bytes(i) > 0; i++) {
      Call part = call.part(parts.from(i), parts.bytes(i));
      channels.add(
          algorithm.schedule(part, i, new Schedule.Builder(part, used, mostPacked, chunk)));
    }
    return channels;
  }
}
