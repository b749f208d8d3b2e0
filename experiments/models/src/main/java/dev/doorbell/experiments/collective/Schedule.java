package dev.doorbell.experiments.collective;

import dev.doorbell.core.queue.generated.StepView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The steps of all ranks for one call, and how much memory they need.
 *
 * <p>A message goes where nothing else goes in a turn: into the receive buffer, or into scratch
 * memory of its own. So no rank has to ask whether a peer has room; a turn ends with a barrier.
 *
 * @param steps of each rank, in order
 * @param arenaBytes of each rank
 * @param flags how many messages with a flag of their own each rank sends, by receiver; 0 where all
 *     are packed
 * @param node consecutive ranks that send each other messages by stores; others put them
 */
public record Schedule(
    List<List<Step>> steps, List<Long> arenaBytes, List<Map<Integer, Integer>> flags, int node) {
  /** The longest packed data that goes in the WQE: what fits into one block of it. */
  private static final long MOST_INLINE = 28;

  /** Returns whether a rank sends anything to another one, or the other way round. */
  public boolean joins(int one, int other) {
    return flags.get(one).containsKey(other) || flags.get(other).containsKey(one);
  }

  /** The same with a barrier behind it, so that it may be repeated. */
  public Schedule thenBarrier() {
    Builder builder =
        new Builder(arenaBytes.stream().mapToLong(Long::longValue).toArray(), 0, 0, node);
    for (int rank = 0; rank < steps.size(); rank++) {
      builder.steps.get(rank).addAll(steps.get(rank));
      builder.flags.get(rank).putAll(flags.get(rank));
    }
    Algorithm.dissemination(builder);
    return builder.build();
  }

  /** Returns whether the NVSwitch reduces. */
  public boolean usesSwitch() {
    return steps.stream()
        .flatMap(List::stream)
        .anyMatch(step -> step.combine() == Step.Combine.SWITCH);
  }

  /** Returns whether a message is stored, not put. */
  boolean near(Message message) {
    return message.from() / node == message.to() / node;
  }

  /**
   * The steps of a rank as its kernel reads them: {@code struct doorbell_step[count]}, the last of
   * which are empty where the rank has fewer.
   */
  public byte[] encode(int rank, int count) {
    List<Step> own = steps.get(rank);
    byte[] bytes = new byte[Math.multiplyExact(count, StepView.BYTES)];
    for (int i = 0; i < own.size(); i++) {
      Message awaited = own.get(i).awaited();
      Message sent = own.get(i).sent();
      int from = awaited == null ? 0 : flags.get(awaited.from()).getOrDefault(rank, 0);
      int to = sent == null ? 0 : flags.get(rank).getOrDefault(sent.to(), 0);
      view(own.get(i), from, to).encode(bytes, i * StepView.BYTES);
    }
    return bytes;
  }

  private StepView view(Step step, int flagsFrom, int flagsTo) {
    Message awaited = step.awaited();
    Message sent = step.sent();
    boolean unpacks = awaited != null && awaited.packed();
    int combine =
        switch (step.combine()) {
          case NONE -> StepView.COMBINE_NONE;
          case COPY -> StepView.COMBINE_COPY;
          case REDUCE -> StepView.COMBINE_REDUCE;
          case SWITCH -> StepView.COMBINE_SWITCH;
        };
    return new StepView(
        awaited == null ? 0 : awaited.from(),
        awaited == null ? 0 : awaited.number(),
        flagsFrom,
        unpacks ? combine | StepView.COMBINE_PACKED : combine,
        step.target(),
        step.first(),
        step.second(),
        step.bytes(),
        sent == null ? 0 : sent.to(),
        sent == null ? 0 : sent.number(),
        flagsTo,
        sent == null ? StepView.PUT_NONE : put(sent),
        step.source(),
        sent == null ? 0 : sent.offset(),
        sent == null ? 0 : sent.bytes(),
        step.packed());
  }

  private int put(Message sent) {
    if (near(sent)) {
      return StepView.PUT_NEAR | (sent.packed() ? StepView.PUT_PACKED : StepView.PUT_DATA);
    }
    if (!sent.packed()) {
      return StepView.PUT_DATA;
    }
    return 2 * sent.bytes() <= MOST_INLINE
        ? StepView.PUT_PACKED | StepView.PUT_INLINE
        : StepView.PUT_PACKED;
  }

  /** A part of a buffer, which a message carries. */
  record Piece(long at, long bytes) {}

  /** Collects the steps of all ranks. */
  static final class Builder {
    private final List<List<Step>> steps = new ArrayList<>();
    private final long[] used;
    private final List<Map<Integer, Integer>> flags = new ArrayList<>();
    private final long mostPacked;
    private final long chunk;
    private final int node;

    /**
     * Nobody has a step yet.
     *
     * @param used bytes of each rank's arena, which grow with what the schedule takes
     * @param mostPacked bytes of the longest message that has its flag in the data
     * @param chunk bytes of the longest message, where an algorithm cuts
     */
    Builder(Call call, long[] used, long mostPacked, long chunk) {
      this(used, mostPacked, chunk, call.node());
    }

    private Builder(long[] used, long mostPacked, long chunk, int node) {
      this.used = used;
      this.node = node;
      this.mostPacked = mostPacked;
      this.chunk = chunk;
      for (int rank = 0; rank < used.length; rank++) {
        steps.add(new ArrayList<>());
        flags.add(new HashMap<>());
      }
    }

    int ranks() {
      return used.length;
    }

    /** Returns whether a message of that length has its flag in the data. */
    boolean packs(long bytes) {
      return bytes > 0 && bytes <= mostPacked;
    }

    /** Cuts {@code [from, to)} in pieces of at most a chunk. */
    List<Piece> pieces(long from, long to) {
      List<Piece> pieces = new ArrayList<>();
      for (long at = from; at < to; at += chunk) {
        pieces.add(new Piece(at, Math.min(chunk, to - at)));
      }
      return pieces;
    }

    /** Reserves scratch memory of a rank. */
    long scratch(int rank, long bytes) {
      long at = used[rank];
      used[rank] += Call.padded(bytes);
      return at;
    }

    Draft at(int rank) {
      return new Draft(this, rank);
    }

    Schedule build() {
      List<Long> bytes = new ArrayList<>();
      for (long each : used) {
        bytes.add(each);
      }
      return new Schedule(
          steps.stream().map(List::copyOf).toList(),
          List.copyOf(bytes),
          flags.stream().map(Map::copyOf).toList(),
          node);
    }
  }

  /** A step of a rank that is being put together; {@link #end} or a message ends it. */
  static final class Draft {
    private final Builder in;
    private final int rank;
    private @Nullable Message awaited;
    private Step.Combine combine = Step.Combine.NONE;
    private long target;
    private long first;
    private long second;
    private long bytes;

    private Draft(Builder in, int rank) {
      this.in = in;
      this.rank = rank;
    }

    /** Waits until a message is where it is to be. */
    Draft receive(Message message) {
      awaited = message;
      if (message.packed()) {
        combine = Step.Combine.COPY;
        second = message.offset();
        target = message.target();
        bytes = message.bytes();
      }
      return this;
    }

    /** Waits for a message, and stores {@code with} reduced by it at {@code into}. */
    Draft reduce(Message message, long with, long into) {
      awaited = message;
      combine = Step.Combine.REDUCE;
      first = with;
      second = message.offset();
      target = into;
      bytes = message.bytes();
      return this;
    }

    Draft copy(long from, long into, long length) {
      combine = Step.Combine.COPY;
      first = from;
      target = into;
      bytes = length;
      return this;
    }

    /** Has the switch add what all ranks have at {@code from}, and store it at {@code into}. */
    Draft addInSwitch(long from, long into, long length) {
      copy(from, into, length).combine = Step.Combine.SWITCH;
      return this;
    }

    /** Ends the step with a message to a place in the peer's arena. */
    Message put(int to, long source, long into, long length) {
      boolean packs = in.packs(length);
      long offset = packs ? in.scratch(to, 2 * Call.padded(length)) : into;
      return end(to, source, offset, into, length, packs);
    }

    /** Ends the step with a message to scratch memory of the peer. */
    Message send(int to, long source, long length) {
      boolean packs = in.packs(length);
      long offset = in.scratch(to, packs ? 2 * Call.padded(length) : length);
      return end(to, source, offset, offset, length, packs);
    }

    private Message end(int to, long source, long offset, long into, long length, boolean packs) {
      int flagged = in.flags.get(rank).merge(to, packs ? 0 : 1, Integer::sum);
      int number = packs ? 0 : flagged;
      Message message = new Message(rank, to, number, offset, into, length, packs);
      long staging = packs ? in.scratch(rank, 2 * Call.padded(length)) : 0;
      in.steps
          .get(rank)
          .add(new Step(awaited, combine, target, first, second, bytes, message, source, staging));
      return message;
    }

    /** Ends the step without a message. */
    void end() {
      in.steps.get(rank).add(new Step(awaited, combine, target, first, second, bytes, null, 0, 0));
    }
  }

  /** A buffer divided into parts of nearly the same size; each begins at a multiple of 16 bytes. */
  record Segments(long bytes, int count) {
    private long each() {
      return Call.padded((bytes + count - 1) / count);
    }

    long from(int segment) {
      return Math.min(segment * each(), bytes);
    }

    long to(int segment) {
      return from(segment + 1);
    }

    long bytes(int segment) {
      return to(segment) - from(segment);
    }
  }
}
