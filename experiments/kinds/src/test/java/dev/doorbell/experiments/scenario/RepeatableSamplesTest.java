package dev.doorbell.experiments.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.topology.TopologyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Virtual time has no chance in it but the seed's, and that only where a topology has jitter. */
class RepeatableSamplesTest {
  private static final String CONFIG =
      """
      experiment: repeatable
      question: Does the same seed give the same samples?
      kernel: [put_latency, put_bandwidth]
      axes:
        path: [pull, pull.bf, push.inline, push.memic, staged, proxy]
        placement: [same-switch]
        size: [64, 1K]
      exclude:
        - { path: push.inline, size: ">220" }
      measure:
        metrics: [latency, goodput, tlp.bytes, link.crossings, fences]
        warmup: 1
        samples: 3
      """;

  private final PointRunner runner = runner();

  private static PointRunner runner() {
    try {
      SessionRuntime runtime = new SessionRuntime();
      return runtime.runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static List<Point> points(String placement, int seed, String size) throws Exception {
    return PointBench.points(CONFIG, "seed=" + seed, "placement=" + placement, "size=" + size);
  }

  private List<PointResult> run(List<Point> points) throws Exception {
    List<PointResult> results = new ArrayList<>();
    for (Point point : points) {
      results.add(runner.run(point, new PointBench()));
    }
    return results;
  }

  @Test
  void two_runs_give_the_same_samples_and_counters_to_the_last_bit_with_any_seed()
      throws Exception {
    List<PointResult> one = run(points("same-switch", 1, "64,1K"));
    assertThat(run(points("same-switch", 1, "64,1K"))).isEqualTo(one).hasSize(11);
    assertThat(run(points("same-switch", 2, "64,1K"))).as("no jitter").isEqualTo(one);
  }

  @Test
  void two_runs_at_once_do_not_touch_each_other() throws Exception {
    List<Point> points = points("cross-socket", 1, "64");
    List<PointResult> alone = run(points);
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Callable<List<PointResult>> job = () -> run(points);
      for (Future<List<PointResult>> result : threads.invokeAll(List.of(job, job))) {
        assertThat(result.get()).isEqualTo(alone);
      }
    }
  }

  @Test
  void another_seed_changes_samples_where_a_topology_has_jitter(@TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("jitter.yaml");
    String text = TopologyFile.text("same-switch");
    String jittery =
        text.replace(
            "between: [gpu0, nic0]",
            "between: [gpu0, nic0]\n    jitter_ns: {value: 40, source: \"assumed\"}");
    assertThat(jittery).isNotEqualTo(text);
    Files.writeString(file, jittery);
    List<PointResult> one = run(points(file.toString(), 1, "64"));
    assertThat(run(points(file.toString(), 1, "64"))).isEqualTo(one);
    assertThat(run(points(file.toString(), 2, "64"))).isNotEqualTo(one);
  }
}
