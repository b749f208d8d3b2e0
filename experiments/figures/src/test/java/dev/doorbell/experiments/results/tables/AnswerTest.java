package dev.doorbell.experiments.results.tables;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.Runs;
import dev.doorbell.experiments.run.StoredRun;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerTest {
  private static final Map<String, Double> LATENCY =
      Map.of(
          "pull_64", 2000.0,
          "pull_4096", 2500.0,
          "push.inline_64", 1000.0,
          "push.memic_64", 1001.0,
          "push.memic_4096", 5000.0);

  @TempDir private Path folder;

  @Test
  void the_best_path_of_each_size_is_named_and_ties_are_told() throws Exception {
    String text = answer(Configs.SMALL, "latency", 80);
    assertThat(text)
        .startsWith(
            """
            Lowest median latency, by path along message size (lead over the next):
              push.inline = push.memic at 64 B (2x); pull at 4 KiB (2x)
            latency: half the round trip""")
        .contains("pull              2.00        2.50")
        .contains("push.inline       1.00           -");
  }

  @Test
  void the_higher_rate_is_the_better_one() throws Exception {
    String text =
        answer(
            Configs.SMALL
                .replace("[latency, goodput, tlp.bytes]", "[goodput]")
                .replaceFirst("(?s)  figures:.*", "")
                .replace("outputs:\n", ""),
            "goodput",
            80);
    assertThat(text)
        .startsWith(
            """
            Highest median goodput, by path along message size (lead over the next):
              pull at 64 B (2x); push.memic at 4 KiB (2x)""");
  }

  @Test
  void a_run_of_one_point_has_no_answer() throws Exception {
    StoredRun run =
        Runs.make(
            folder,
            Configs.read(Configs.SMALL, "path=pull", "size=64"),
            (point, _) -> result(point, "latency"));
    assertThat(Answer.of(run.data())).isEmpty();
  }

  private String answer(String config, String metric, int width) throws Exception {
    StoredRun run = Runs.make(folder, Configs.read(config), (point, _) -> result(point, metric));
    return Answer.of(run.data()).orElseThrow().text(width);
  }

  private static PointResult result(Point point, String metric) {
    double value = LATENCY.getOrDefault(point.id(), 0.0);
    double[] samples = new double[point.samples()];
    Arrays.fill(samples, value);
    return new PointResult(
        Basis.MODELLED,
        List.of(Samples.of(metric, metric.equals("latency") ? "ns" : "GB/s", samples)),
        new LinkedHashMap<>(),
        1,
        List.of());
  }
}
