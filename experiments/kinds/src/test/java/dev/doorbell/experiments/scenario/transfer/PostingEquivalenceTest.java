package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whoever posts and rings, and wherever the queues lie, the same bytes are at the target and the
 * same values are fetched: those of a model in plain arrays.
 */
class PostingEquivalenceTest {
  private static final long SEED = Long.getLong("doorbell.seed", 2024);

  /** Long beyond what a case takes: a wait that ends by it is a fault. */
  private static final long DEADLINE = 100_000_000_000L;

  private static final int CASES = 8;
  private static final int TIMED_CASES = 4;
  private static final int INDICES = 1 << 16;
  private static final int AROUND = 600;

  /** Rounds of one placement; only the slow tests try more than the first. */
  private static final int ROUNDS = 6;

  private static final int POSTERS = 16;

  /** Who posts and how it rings. */
  enum Mode {
    DOORBELL(Connection.Ringing.GPU, false, false),
    RECORD_LAST(Connection.Ringing.GPU, false, true),
    BLUEFLAME(Connection.Ringing.GPU, true, false),
    BLUEFLAME_RECORD_LAST(Connection.Ringing.GPU, true, true),
    CPU_RUNG(Connection.Ringing.CPU, false, false),
    PROXY(Connection.Ringing.PROXY, true, false);

    private final Connection.Ringing ringing;
    private final boolean blueFlame;
    private final boolean recordLast;

    Mode(Connection.Ringing ringing, boolean blueFlame, boolean recordLast) {
      this.ringing = ringing;
      this.blueFlame = blueFlame;
      this.recordLast = recordLast;
    }
  }

  /** What is drawn for a connection. */
  private record Drawn(Endpoint.Shape shape, int queuePairs, long seed, String text) {
    static Drawn of(Mode mode, Placement placement, boolean collapsed, SplittableRandom random) {
      int sendBlocks = 1 << List.of(0, 1, 2, 2, 3, 4, 6, 8).get(random.nextInt(8));
      int completions = sendBlocks << random.nextInt(2);
      int queuePairs = 1 + random.nextInt(3);
      int batch = 1 << random.nextInt(5);
      boolean exclusive = random.nextInt(4) == 0;
      Endpoint.Shape shape =
          Endpoint.Shape.builder(sendBlocks, DEADLINE)
              .completionEntries(completions)
              .collapsed(collapsed)
              .placement(placement)
              .blueFlame(mode.blueFlame)
              .recordLast(mode.recordLast)
              .exclusive(exclusive)
              .batch(batch)
              .build();
      // Seed 0 is round robin; the others interleave at random.
      long interleaving = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(1 << 30);
      return new Drawn(
          shape,
          queuePairs,
          interleaving,
          "%s, %s, %d queue pairs, interleaving %d"
              .formatted(mode, shape, queuePairs, interleaving));
    }

    OperationLists.Limits limits(World world) {
      return new OperationLists.Limits(
          shape.blocks(),
          world.rank(0).hca().attributes().maxInlineBytes(),
          queuePairs,
          (shape.flags() & QueuePairView.FLAG_EXCLUSIVE) != 0);
    }
  }

  static Stream<Arguments> modesAndPlacements() {
    return Stream.of(Mode.values())
        .flatMap(mode -> placements().map(placement -> Arguments.of(mode, placement)));
  }

  private static Stream<Placement> placements() {
    List<MemoryKind> kinds = List.of(MemoryKind.DEVICE, MemoryKind.HOST);
    return kinds.stream()
        .flatMap(
            send ->
                kinds.stream()
                    .flatMap(
                        completion ->
                            kinds.stream().map(record -> new Placement(send, completion, record))));
  }

  @ParameterizedTest
  @MethodSource("modesAndPlacements")
  void random_operations_leave_what_the_model_says(Mode mode, Placement placement) {
    rounds(mode, placement, 0, 1);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("modesAndPlacements")
  void more_random_operations_leave_what_the_model_says(Mode mode, Placement placement) {
    rounds(mode, placement, 1, ROUNDS);
  }

  private static void rounds(Mode mode, Placement placement, int first, int end) {
    for (int round = first; round < end; round++) {
      SplittableRandom random = random(mode, placement, round);
      boolean collapsed = (round + where(placement)) % 2 == 0;
      Drawn drawn = Drawn.of(mode, placement, collapsed, random);
      try (World world = World.direct(2, drawn.seed(), SoftHcaOptions.DEFAULT)) {
        execute(world, mode, drawn, random, CASES);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed %d, %s: %s".formatted(SEED, drawn.text(), e.getMessage()), e);
      }
    }
  }

  private static SplittableRandom random(Mode mode, Placement placement, int round) {
    return new SplittableRandom(
        SEED + ((round * 8L + where(placement)) << 8) + List.of(Mode.values()).indexOf(mode));
  }

  private static int where(Placement placement) {
    return placements().toList().indexOf(placement);
  }

  private static void execute(
      World world, Mode mode, Drawn drawn, SplittableRandom random, int cases) {
    try (Connection connection =
            Connection.open(world, drawn.shape(), mode.ringing, drawn.queuePairs());
        OperationBench bench = new OperationBench(world, connection, random.nextLong())) {
      for (int i = 0; i < cases; i++) {
        OperationLists lists = OperationLists.random(random, drawn.limits(world));
        try {
          bench.execute(lists, DEADLINE);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError("case %d (%s): %s".formatted(i, lists, e.getMessage()), e);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Mode.class)
  void virtual_time_changes_no_byte(Mode mode) throws Exception {
    for (Placement placement : List.of(Placement.GPU, Placement.HOST)) {
      SplittableRandom random = random(mode, placement, 100);
      Drawn drawn = Drawn.of(mode, placement, random.nextBoolean(), random);
      try (World world =
          World.timed(TopologyFile.load("cross-socket"), 2, 1024, drawn.seed(), Trace.NONE)) {
        execute(world, mode, drawn, random, TIMED_CASES);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed %d, %s: %s".formatted(SEED, drawn.text(), e.getMessage()), e);
      }
    }
  }

  static Stream<Arguments> modesAndRings() {
    return Stream.of(Mode.values())
        .flatMap(
            mode ->
                Stream.of(
                    Arguments.of(mode, 1, true),
                    Arguments.of(mode, 4, false),
                    Arguments.of(mode, 64, true),
                    Arguments.of(mode, 64, false)));
  }

  /** Every mode once, and every ring with some mode. */
  @ParameterizedTest
  @CsvSource({
    "DOORBELL, 1, true",
    "PROXY, 4, false",
    "BLUEFLAME, 4, false",
    "RECORD_LAST, 64, true",
    "CPU_RUNG, 64, true",
    "BLUEFLAME_RECORD_LAST, 64, false"
  })
  void nothing_changes_where_the_16_bit_index_wraps(Mode mode, int sendBlocks, boolean collapsed) {
    wraps(mode, sendBlocks, collapsed, 1);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("modesAndRings")
  void nothing_changes_where_it_wraps_in_any_mode_on_any_ring(
      Mode mode, int sendBlocks, boolean collapsed) {
    // A ring of one block takes long for a lap, and has the same place at every index.
    wraps(mode, sendBlocks, collapsed, sendBlocks == 1 ? 1 : 2);
  }

  private static void wraps(Mode mode, int sendBlocks, boolean collapsed, int laps) {
    SplittableRandom random =
        random(mode, Placement.GPU, 200 + 2 * sendBlocks + (collapsed ? 1 : 0));
    Endpoint.Shape shape =
        Endpoint.Shape.builder(sendBlocks, DEADLINE)
            .collapsed(collapsed)
            .blueFlame(mode.blueFlame)
            .recordLast(mode.recordLast)
            .batch(4)
            .build();
    Drawn drawn = new Drawn(shape, 1, 0, "%s, %s".formatted(mode, shape));
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, mode.ringing, 1);
        OperationBench bench = new OperationBench(world, connection, random.nextLong())) {
      Posted posted = new Posted(connection.endpoints(0).getFirst());
      for (int lap = 1; lap <= laps; lap++) {
        long wrap = (long) lap * INDICES;
        bench.repeat(increments((wrap - AROUND - posted.blocks()) / POSTERS), 1, POSTERS, DEADLINE);
        assertThat(posted.blocks()).isLessThan(wrap).isGreaterThan(wrap - 2 * AROUND);
        while (posted.blocks() < wrap + AROUND) {
          bench.execute(OperationLists.random(random, drawn.limits(world)), DEADLINE);
        }
      }
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed %d, %s: %s".formatted(SEED, drawn.text(), e.getMessage()), e);
    }
  }

  /** Widens the send index of a doorbell record; asked at least once in 65,536 blocks. */
  private static final class Posted {
    private final Endpoint endpoint;
    private long blocks;

    Posted(Endpoint endpoint) {
      this.endpoint = endpoint;
    }

    long blocks() {
      int index = DoorbellRecord.sendIndex(endpoint.queuePair().recordAddress());
      blocks += (index - blocks) & (INDICES - 1);
      return blocks;
    }
  }

  private static JobView increments(long iterations) {
    JobView job = new JobView();
    job.opcode = JobView.OP_FETCH_ADD;
    job.bytes = Long.BYTES;
    job.stride = Long.BYTES;
    job.operand = 1;
    job.iterations = iterations;
    return job;
  }
}
