package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.Main;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.Runs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two runs of ten million samples each, compared by a process that has a gigabyte. The time that it
 * took is printed, and not judged: it is that of the machine.
 */
@Tag("slow")
class LargeComparisonTest {
  private static final int POINTS = 100;
  private static final int SAMPLES = Integer.getInteger("doorbell.samples", 10_000_000) / POINTS;
  @TempDir private Path folder;

  @Test
  void ten_million_samples_a_run_are_compared_within_a_gigabyte() throws Exception {
    Path before = run("before", 1, 0);
    Path after = run("after", 2, 20);
    List<String> command = TestProgram.java("-Xmx1g");
    command.addAll(List.of(Main.class.getName(), "compare", before.toString(), after.toString()));
    try (TestProgram compare = TestProgram.start(folder, command)) {
      Duration used = Duration.ZERO;
      while (!compare.process().waitFor(50, TimeUnit.MILLISECONDS)) {
        used = compare.process().info().totalCpuDuration().orElse(used);
      }
      System.out.printf(
          "compare of 2 x %,d samples: %d ms of CPU%n", POINTS * SAMPLES, used.toMillis());
      assertThat(compare.succeed()).contains("window").doesNotContain("OutOfMemory");
    }
  }

  /** Latencies that spread by a tenth about 5 us, and by how much the second run is slower. */
  private Path run(String name, long seed, long slower) throws Exception {
    ExperimentConfig config =
        Configs.read(
            """
            experiment: large
            question: Does it fit?
            kernel: put_latency
            axes: { window: "range(1,%d)" }
            measure: { metrics: [latency], samples: %d }
            """
                .formatted(POINTS, SAMPLES));
    return Runs.make(
            folder.resolve(name),
            config,
            (point, context) -> {
              SplittableRandom random = new SplittableRandom(seed + point.index());
              long[] values = new long[SAMPLES];
              for (int i = 0; i < SAMPLES; i++) {
                values[i] = 4_750 + slower + random.nextInt(500);
              }
              return new PointResult(
                  Basis.MODELLED,
                  List.of(Samples.of("latency", "ns", values)),
                  new LinkedHashMap<>(),
                  1,
                  List.of());
            })
        .path();
  }
}
