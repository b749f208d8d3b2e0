package dev.doorbell.experiments.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.collective.Call.Contribution;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.ScheduleTime.StepCosts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Schedules compute what their collectives mean, in whatever order ranks and messages go. */
class CollectiveScheduleTest {
  private static final long SEED = Long.getLong("doorbell.seed", 21);
  private static final List<DataType> TYPES = List.of(DataType.values());
  private static final List<Reduction> REDUCTIONS = List.of(Reduction.values());
  private static final long[] SIZES = {4, 60, 200, 4096};

  static Stream<Call> calls() {
    List<Call> calls = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(SEED);
    for (Collective collective : Collective.values()) {
      for (int ranks : new int[] {2, 3, 5, 6, 8, 12, 13}) {
        int node = ranks % 3 == 0 ? 3 : ranks % 4 == 0 ? 4 : 1;
        for (long size : SIZES) {
          boolean inPlace = collective.inPlace() && random.nextBoolean();
          DataType type = TYPES.get(random.nextInt(4));
          Reduction reduction = REDUCTIONS.get(random.nextInt(3));
          int root = collective.rooted() ? random.nextInt(ranks) : 0;
          calls.add(new Call(collective, ranks, size, type, reduction, root, inPlace, SEED, node));
        }
      }
    }
    return calls.stream();
  }

  @ParameterizedTest
  @MethodSource("calls")
  void every_algorithm_computes_what_the_collective_means(Call call) {
    byte[] reduced = call.collective().reduces() ? call.reduced() : new byte[0];
    for (Algorithm algorithm : Algorithm.of(call.collective(), call.ranks(), call.node())) {
      for (long mostPacked : new long[] {0, 256}) {
        for (long chunk : new long[] {112, 65536}) {
          List<Schedule> channels =
              chunk == 112
                  ? List.of(algorithm.schedule(call, mostPacked, chunk).thenBarrier())
                  : Channels.of(algorithm, call, mostPacked, chunk, 3);
          ScheduleExecution ranks = new ScheduleExecution(call, channels, SEED);
          ranks.run();
          for (int rank = 0; rank < call.ranks(); rank++) {
            byte[] expected = call.expected(rank, reduced);
            byte[] found = ranks.result(rank, expected.length);
            assertThat(found).as("%s, rank %d", algorithm, rank).isEqualTo(expected);
          }
        }
      }
    }
  }

  @Test
  void no_two_messages_and_no_message_and_a_result_share_scratch_memory() {
    Call call =
        new Call(Collective.ALL_REDUCE, 7, 4096, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    for (Algorithm algorithm : Algorithm.of(call.collective(), call.ranks(), call.node())) {
      List<Schedule> channels = Channels.of(algorithm, call, 128, 256, 3);
      for (int rank = 0; rank < call.ranks(); rank++) {
        int to = rank;
        List<long[]> places =
            channels.stream()
                .flatMap(channel -> channel.steps().stream())
                .flatMap(List::stream)
                .map(Step::sent)
                .filter(sent -> sent != null && sent.to() == to && sent.bytes() > 0)
                .filter(sent -> sent.offset() >= call.scratchAt())
                .map(
                    sent ->
                        new long[] {
                          sent.offset(), sent.offset() + (sent.packed() ? 2 : 1) * sent.bytes()
                        })
                .sorted((a, b) -> Long.compare(a[0], b[0]))
                .toList();
        for (int i = 1; i < places.size(); i++) {
          assertThat(places.get(i)[0]).isGreaterThanOrEqualTo(places.get(i - 1)[1]);
        }
        if (!places.isEmpty()) {
          assertThat(places.getLast()[1])
              .isLessThanOrEqualTo(channels.getLast().arenaBytes().get(rank));
        }
      }
    }
  }

  @Test
  void channels_divide_whole_buffers_and_leave_no_part_empty() {
    Call call = new Call(Collective.REDUCE, 3, 40, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    assertThat(Channels.of(Algorithm.RING, call, 0, 64, 1)).hasSize(1);
    assertThat(Channels.of(Algorithm.RING, call, 0, 64, 8)).hasSize(3);
    assertThat(Channels.most(Algorithm.TREE, Collective.BROADCAST, 8)).isEqualTo(8);
    assertThat(Channels.most(Algorithm.RING, Collective.ALL_GATHER, 8)).isEqualTo(8);
    assertThat(Channels.most(Algorithm.HALVING, Collective.ALL_GATHER, 8)).isOne();
    assertThat(Channels.most(Algorithm.HIERARCHICAL, Collective.ALL_TO_ALL, 8)).isOne();
    assertThat(Channels.most(Algorithm.DIRECT, Collective.ALL_TO_ALL_V, 8)).isOne();
    assertThat(Channels.most(Algorithm.DIRECT, Collective.BARRIER, 8)).isOne();
  }

  @Test
  void channels_of_buffers_that_are_divided_are_parts_of_their_blocks() {
    Call call =
        new Call(Collective.ALL_GATHER, 4, 4 * 48, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    List<Schedule> channels = Channels.of(Algorithm.RING, call, 0, 64, 8);
    assertThat(channels).hasSize(3);
    List<Long> places =
        channels.stream().map(channel -> channel.steps().get(3).get(1).target()).toList();
    assertThat(places).containsExactly(48 + 3 * 48L, 48 + 3 * 48L + 16, 48 + 3 * 48L + 32);
  }

  @Test
  void of_two_trees_each_rank_is_an_inner_node_of_one_at_most() {
    for (int ranks = 2; ranks < 200; ranks++) {
      int[] one = Tree.binary(ranks);
      int[] other = Tree.mirrored(one);
      assertThat(depth(one))
          .isLessThanOrEqualTo(2 + Integer.SIZE - Integer.numberOfLeadingZeros(ranks));
      assertThat(depth(other)).isEqualTo(depth(one));
      Set<Integer> inner = inner(one);
      inner.retainAll(inner(other));
      // The root's only child may be one of the other tree's inner nodes, where ranks are odd.
      assertThat(inner.size()).as("%d ranks", ranks).isLessThanOrEqualTo(ranks % 2);
      assertThat(IntStream.range(0, ranks).map(rank -> (int) children(one, rank)).max().orElse(0))
          .isLessThanOrEqualTo(2);
    }
  }

  private static long children(int[] parents, int rank) {
    return Arrays.stream(parents).filter(parent -> parent == rank).count();
  }

  private static Set<Integer> inner(int[] parents) {
    Set<Integer> inner = new HashSet<>();
    for (int parent : parents) {
      if (parent >= 0) {
        inner.add(parent);
      }
    }
    return inner;
  }

  /** Edges to the farthest rank; fails on a circle. */
  private static int depth(int[] parents) {
    int deepest = 0;
    for (int rank = 0; rank < parents.length; rank++) {
      int depth = 0;
      for (int at = rank; parents[at] >= 0; at = parents[at]) {
        depth++;
        assertThat(depth).isLessThan(parents.length);
      }
      deepest = Math.max(deepest, depth);
    }
    return deepest;
  }

  @Test
  void an_all_reduce_moves_as_much_through_a_port_as_its_algorithm_says() {
    Call call =
        new Call(Collective.ALL_REDUCE, 8, 1 << 16, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    long optimal = 2 * 7 * call.size() / 8;
    assertThat(mostSent(Algorithm.RING.schedule(call, 0, 1 << 20))).isEqualTo(optimal);
    assertThat(mostSent(Algorithm.HALVING.schedule(call, 0, 1 << 20))).isEqualTo(optimal);
    assertThat(mostSent(Algorithm.DIRECT.schedule(call, 0, 1 << 20))).isEqualTo(optimal);
    assertThat(mostSent(Algorithm.TREE.schedule(call, 0, 1 << 20)))
        .isBetween(optimal, 2 * call.size());
  }

  private static long mostSent(Schedule schedule) {
    return schedule.steps().stream()
        .mapToLong(
            steps ->
                steps.stream()
                    .map(Step::sent)
                    .filter(sent -> sent != null)
                    .mapToLong(Message::bytes)
                    .sum())
        .max()
        .orElse(0);
  }

  @Test
  void the_predicted_time_of_small_messages_is_that_of_the_rounds() {
    StepCosts costs = new StepCosts(0, 0, 0, 1000, 0, 0, 0, 16, 16, 0, 0, 0, StepCosts.Near.NONE);
    Call small =
        new Call(Collective.ALL_REDUCE, 16, 64, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    Call even =
        new Call(Collective.ALL_REDUCE, 16, 256, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    assertThat(time(Algorithm.RING, even, costs)).isEqualTo(30_000);
    assertThat(time(Algorithm.HALVING, small, costs)).isEqualTo(4_000);
    assertThat(time(Algorithm.DIRECT, small, costs)).isEqualTo(1_000);
    Call barrier =
        new Call(Collective.BARRIER, 9, 4, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    assertThat(time(Algorithm.HALVING, barrier, costs)).isEqualTo(4_000);
  }

  @Test
  void a_post_with_a_flag_behind_its_data_takes_longer_than_one_of_packed_data() {
    StepCosts costs = new StepCosts(0, 100, 0, 1000, 0, 0, 0, 16, 16, 0, 0, 0, StepCosts.Near.NONE);
    Call packed =
        new Call(Collective.ALL_REDUCE, 16, 64, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    Call apart =
        new Call(Collective.ALL_REDUCE, 16, 65536, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    assertThat(time(Algorithm.DIRECT, packed, costs)).isEqualTo(1_000);
    assertThat(time(Algorithm.DIRECT, apart, costs)).isEqualTo(5_000);
    assertThat(time(Algorithm.HALVING, apart, costs)).isEqualTo(8_800);
  }

  @Test
  void a_post_to_another_rank_than_the_last_one_takes_longer() {
    StepCosts costs = new StepCosts(0, 0, 100, 1000, 0, 0, 0, 16, 16, 0, 0, 0, StepCosts.Near.NONE);
    Call small =
        new Call(Collective.ALL_REDUCE, 16, 64, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    assertThat(time(Algorithm.HALVING, small, costs)).isEqualTo(4_400);
    assertThat(time(Algorithm.DIRECT, small, costs)).isEqualTo(2_500);
  }

  @Test
  void a_message_takes_what_the_slower_end_takes() {
    Call call =
        new Call(Collective.BROADCAST, 2, 65536, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    for (int[] ends : new int[][] {{3, 1}, {1, 3}, {3, 3}}) {
      StepCosts costs =
          new StepCosts(0, 0, 0, 1000, ends[0], ends[1], 0, 16, 16, 0, 0, 0, StepCosts.Near.NONE);
      assertThat(ScheduleTime.of(List.of(Algorithm.DIRECT.schedule(call, 1024, 65536)), costs))
          .isEqualTo(1000 + 3 * 65536);
    }
  }

  @Test
  void a_step_that_waits_for_a_message_has_a_fence_behind_its_flag() {
    StepCosts costs = new StepCosts(0, 0, 0, 1000, 0, 0, 0, 16, 16, 0, 50, 0, StepCosts.Near.NONE);
    Call call =
        new Call(Collective.ALL_REDUCE, 16, 64, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
    assertThat(time(Algorithm.DIRECT, call, costs)).isEqualTo(1000 + 15 * 50);
    assertThat(time(Algorithm.HALVING, call, costs)).isEqualTo(4 * (1000 + 50));
  }

  @Test
  void a_near_message_waits_for_its_stores_before_the_flag_behind_it() {
    StepCosts.Near near = new StepCosts.Near(10, 100, 1000, 0, 0, 0);
    StepCosts costs = new StepCosts(0, 0, 0, 5000, 0, 0, 0, 16, 16, 0, 0, 0, near);
    for (int size : new int[] {64, 65536}) {
      Call call =
          new Call(
              Collective.ALL_GATHER, 4, size, DataType.FLOAT, Reduction.SUM, 0, false, SEED, 4);
      double flags = size == 64 ? 0 : 3 * 100;
      assertThat(time(Algorithm.DIRECT, call, costs)).isEqualTo(1_030 + flags);
    }
  }

  @Test
  void a_port_carries_what_the_switch_adds_of_all_ranks_and_the_sums() {
    StepCosts.Near near = new StepCosts.Near(0, 0, 100, 0.5, 0.25, 0);
    StepCosts costs = new StepCosts(0, 0, 0, 0, 0, 0, 0, 16, 16, 0, 0, 0, near);
    Call call =
        new Call(Collective.ALL_REDUCE, 4, 4096, DataType.FLOAT, Reduction.SUM, 0, false, SEED, 4);
    double barriers = 2 * 2 * 100;
    assertThat(time(Algorithm.NVLS, call, costs)).isEqualTo(barriers + 1024 * 0.5 * (4 + 1 + 1));
  }

  @Test
  void the_rings_of_channels_leave_a_node_at_different_places_and_stay_in_a_rail() {
    Call call =
        new Call(Collective.ALL_REDUCE, 8, 8192, DataType.FLOAT, Reduction.SUM, 0, false, SEED, 4);
    List<Integer> leaving = new ArrayList<>();
    for (Schedule channel : Channels.of(Algorithm.RING, call, 0, 65536, 4)) {
      List<Message> across =
          channel.steps().stream()
              .flatMap(List::stream)
              .map(Step::sent)
              .filter(sent -> sent != null && sent.from() / 4 != sent.to() / 4)
              .toList();
      assertThat(across).allMatch(sent -> sent.from() % 4 == sent.to() % 4);
      across.stream().map(Message::from).distinct().forEach(leaving::add);
    }
    assertThat(leaving).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7);
  }

  private static double time(Algorithm algorithm, Call call, StepCosts costs) {
    return ScheduleTime.of(List.of(algorithm.schedule(call, 1024, 65536)), costs);
  }

  @Test
  void pieces_follow_each_other_through_rings_and_trees() {
    StepCosts costs = new StepCosts(0, 0, 0, 1000, 1, 1, 0, 16, 16, 0, 0, 0, StepCosts.Near.NONE);
    for (Algorithm algorithm : List.of(Algorithm.RING, Algorithm.TREE)) {
      Call call =
          new Call(
              Collective.ALL_REDUCE, 16, 1 << 20, DataType.FLOAT, Reduction.SUM, 0, false, SEED);
      double whole = ScheduleTime.of(List.of(algorithm.schedule(call, 0, 1 << 20)), costs);
      double pieces = ScheduleTime.of(List.of(algorithm.schedule(call, 0, 1 << 12)), costs);
      // A port carries twice the buffer; a tree's leaves send theirs before what they reduce.
      assertThat(pieces).as("%s", algorithm).isLessThan(3.2 * call.size());
      assertThat(pieces).isLessThanOrEqualTo(whole);
    }
  }

  @Test
  void numbers_of_every_type_add_up_exactly_among_256_ranks() {
    for (DataType type : DataType.values()) {
      Call call = new Call(Collective.ALL_REDUCE, 256, 64, type, Reduction.SUM, 0, false, SEED);
      for (long element = 0; element < 16; element++) {
        int sum = 0;
        for (int rank = 0; rank < 256; rank++) {
          assertThat(call.value(rank, element)).isNotNegative();
          sum += call.value(rank, element);
        }
        assertThat(sum).isLessThanOrEqualTo(type.exact()).isPositive();
      }
    }
  }

  @Test
  void numbers_are_the_remainders_of_what_is_drawn() {
    int rank = 3;
    for (int numbers : new int[] {2, 3, 7, 64, 97, 101}) {
      Contribution of = new Contribution(SEED, rank, numbers, -5);
      for (int element = 0; element < 5_000; element++) {
        long drawn = Contribution.mix(SEED + rank * 0x9e3779b97f4a7c15L + element);
        int expected = Math.floorMod((int) (drawn >>> Integer.SIZE), numbers) - 5;
        assertThat(of.at(element)).as("%d of %d", element, numbers).isEqualTo(expected);
      }
    }
  }
}
