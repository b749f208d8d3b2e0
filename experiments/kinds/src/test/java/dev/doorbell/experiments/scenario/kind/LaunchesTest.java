package dev.doorbell.experiments.scenario.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Metrics that have one sample a launch have as many as were asked for. */
class LaunchesTest {
  @ParameterizedTest
  @CsvSource({
    "put_bandwidth, goodput, samples: 5, 5",
    "put_bandwidth, goodput, 'samples: 5, launches: 2', 2",
    "put_bandwidth, goodput, 'samples: 1, launches: 4', 4",
    "put_rate, rate, samples: 3, 3",
    "put_rate, rate, 'samples: 3, launches: 2', 2",
    "put_minimal, rate, samples: 4, 4"
  })
  void samples_and_launches_reach_metrics_of_streams(
      String kernel, String metric, String asked, int expected) throws Exception {
    PointResult result =
        new PointBench()
            .run(
                PointBench.point(
                    new String[] {"path=[pull]", "size=[64]"},
                    "kernel: " + kernel,
                    "measure: { metrics: [%s], %s }".formatted(metric, asked)));
    assertThat(result.samples())
        .singleElement()
        .satisfies(samples -> assertThat(samples.values()).hasSize(expected));
  }
}
