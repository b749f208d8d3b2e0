package dev.doorbell.experiments.scenario.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks beside each other do the same on any number of host threads. */
class HostThreadsTest {
  private static final String THREADS = "doorbell.timed.threads";
  private static final String NODES = "doorbell.timed.nodes";
  private static final int RANKS = 8;
  private static final long DEADLINE_NANOS = 1_000_000;
  private static final long LIMIT_NANOS = 100 * DEADLINE_NANOS;

  /** With ranks beside each other from four on. */
  private static <T> T on(int threads, Callable<T> what) throws Exception {
    System.setProperty(THREADS, Integer.toString(threads));
    System.setProperty(NODES, "4");
    try {
      return what.call();
    } finally {
      System.clearProperty(THREADS);
      System.clearProperty(NODES);
    }
  }

  /** Two or three. */
  private static int threads(long which) {
    return 2 + (int) (which % 2);
  }

  /** What a collective leaves: its outcome, the times, the counts of everything, an error. */
  private static String collective(Algorithm algorithm, long seed, int launched) throws Exception {
    Topology topology = TopologyFile.load("h200-cx7");
    Call call =
        new Call(
            Collective.ALL_REDUCE, RANKS, 4096, DataType.FLOAT, Reduction.SUM, 0, false, seed, 1);
    try (World world = World.timed(topology, RANKS, 4096, seed, Trace.NONE);
        CollectiveTrial trial =
            new CollectiveTrial(
                world,
                call,
                List.of(algorithm.schedule(call, 1024, 2048)),
                Endpoint.Shape.builder(64, DEADLINE_NANOS).exclusive(true).build(),
                LaunchConfig.of(1, 64).withTimeout(LIMIT_NANOS),
                1)) {
      List<Launch> launches =
          trial.prepare().subList(0, launched).stream().map(Supplier::get).toList();
      RunOutcome outcome =
          world.fabric().run(() -> launches.stream().allMatch(Launch::done), LIMIT_NANOS);
      launches.forEach(Launch::check);
      TimedFabric fabric = (TimedFabric) world.fabric();
      String ended = "%s at %d, %s".formatted(outcome, fabric.now(), fabric.counters());
      fabric.quiesce();
      return "%s; %d events, %d instructions; %s, %s"
          .formatted(
              ended,
              fabric.events(),
              launches.stream().mapToLong(Launch::instructions).sum(),
              String.valueOf(trial.firstError()),
              launched < RANKS ? "not compared" : String.valueOf(trial.mismatch()));
    }
  }

  @ParameterizedTest
  @CsvSource({"RING, 1", "RING, 2", "TREE, 3", "HALVING, 4"})
  void collectives_leave_the_same_after_as_many_events(Algorithm algorithm, long seed)
      throws Exception {
    String alone = on(1, () -> collective(algorithm, seed, RANKS));
    assertThat(alone).startsWith("DONE").endsWith("null, null");
    assertThat(on(threads(seed), () -> collective(algorithm, seed, RANKS))).isEqualTo(alone);
  }

  @ParameterizedTest
  @ValueSource(strings = "DIRECT")
  void a_rank_that_never_begins_ends_the_others_by_their_deadline(Algorithm algorithm)
      throws Exception {
    String alone = on(1, () -> collective(algorithm, 1, RANKS - 1));
    assertThat(alone).startsWith("DONE").containsIgnoringCase("deadline");
    assertThat(on(2, () -> collective(algorithm, 1, RANKS - 1))).isEqualTo(alone);
  }

  private static String point(String kernel, String metrics, String settings) throws Exception {
    String config =
        """
        experiment: e
        question: q?
        kernel: %s
        axes: { ranks: [8] }
        fixed: { %s }
        measure: { metrics: [%s], warmup: 0, samples: 1 }
        """
            .formatted(kernel, settings, metrics);
    Point point =
        Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
            .points()
            .getFirst();
    SessionRuntime runtime = new SessionRuntime();
    PointResult result =
        runtime
            .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
            .run(point, new PointBench());
    assertThat(result.verifiedBytes()).isPositive();
    return result.samples().stream().map(Samples::values).map(Arrays::toString).toList()
        + " "
        + result.counters()
        + " "
        + result.verifiedBytes();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "moe|dispatch, combine|threads: 64, tokens: 6, topk: 3, experts: 8, hidden: 64, element:"
            + " bf16, packing: token, routing: zipf, path: pull",
        "moe|dispatch, combine|threads: 64, tokens: 6, topk: 3, experts: 16, hidden: 128, element:"
            + " fp8, packing: expert, routing: uniform, path: pull.bf",
        "moe|dispatch, combine|threads: 64, tokens: 4, topk: 2, experts: 8, hidden: 64, network:"
            + " leaf-spine, radix: 2, switch: pfc, cc: dcqcn",
        "put_bandwidth|dispatch, goodput|size: 1K, messages: 4, depth: 64, window: 8, path: pull",
      })
  void points_have_the_same_samples(String kernel, String metrics, String settings)
      throws Exception {
    String alone = on(1, () -> point(kernel, metrics, settings));
    int threads = threads(settings.length());
    assertThat(on(threads, () -> point(kernel, metrics, settings))).isEqualTo(alone);
  }
}
