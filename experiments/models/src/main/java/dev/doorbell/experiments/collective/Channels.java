package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Segments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Channels of a collective: parts of its buffers, each with a schedule of its own over the same
 * arenas, which blocks of a GPU execute side by side.
 */
public final class Channels {
  private final Call part;
  private final long sendFrom;
  private final long receiveFrom;
  private final long[] scratchFrom;

  private Channels(Call whole, Call part, long from, long[] scratch) {
    this.part = part;
    this.sendFrom = from;
    this.receiveFrom = whole.receiveAt(0) + from - part.receiveAt(0);
    this.scratchFrom = new long[scratch.length];
    for (int rank = 0; rank < scratch.length; rank++) {
      scratchFrom[rank] = scratch[rank] - part.scratchAt();
    }
  }

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
    long[] scratch = new long[call.ranks()];
    Arrays.fill(scratch, call.scratchAt());
    List<Schedule> channels = new ArrayList<>();
    for (int i = 0; i < count && parts.bytes(i) > 0; i++) {
      Call part = call.ofSize(parts.bytes(i));
      Schedule alone = algorithm.schedule(part, mostPacked, chunk, i);
      Schedule placed = new Channels(call, part, parts.from(i), scratch).placed(alone);
      for (int rank = 0; rank < scratch.length; rank++) {
        scratch[rank] = placed.arenaBytes().get(rank);
      }
      channels.add(placed);
    }
    return channels;
  }

  private Schedule placed(Schedule alone) {
    List<List<Step>> steps =
        IntStream.range(0, scratchFrom.length)
            .mapToObj(rank -> alone.steps().get(rank).stream().map(s -> step(rank, s)).toList())
            .toList();
    List<Long> bytes =
        IntStream.range(0, scratchFrom.length)
            .mapToObj(rank -> alone.arenaBytes().get(rank) + scratchFrom[rank])
            .toList();
    return new Schedule(steps, bytes, alone.flags(), alone.node());
  }

  /** Returns where the byte of an arena that a part's schedule names lies in the whole arena. */
  private long at(int rank, long offset) {
    if (offset >= part.scratchAt()) {
      return offset + scratchFrom[rank];
    }
    return offset + (offset >= part.receiveAt(0) ? receiveFrom : sendFrom);
  }

  private Step step(int rank, Step step) {
    return new Step(
        step.awaited() == null ? null : message(step.awaited()),
        step.combine(),
        at(rank, step.target()),
        at(rank, step.first()),
        at(rank, step.second()),
        step.bytes(),
        step.sent() == null ? null : message(step.sent()),
        at(rank, step.source()),
        at(rank, step.packed()));
  }

  private Message message(Message of) {
    return new Message(
        of.from(),
        of.to(),
        of.number(),
        at(of.to(), of.offset()),
        at(of.to(), of.target()),
        of.bytes(),
        of.packed());
  }
}
