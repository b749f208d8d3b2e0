package dev.doorbell.experiments.scenario.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A GPU of the virtual machine as the NIC of another one, as configs run it. */
class GpuNicPointTest {
  private final PointBench bench = new PointBench();

  private static Point point(String metrics, String... settings) throws Exception {
    return PointBench.point(
        settings,
        "kernel: gpu_nic",
        "measure: { metrics: [%s], warmup: 1, samples: 4 }".formatted(metrics));
  }

  private PointResult run(String clock, Point point) throws Exception {
    return bench.run(point, "vm", clock);
  }

  @ParameterizedTest
  @CsvSource({
    "pull, 16, 1, 1",
    "pull, 48, 2, 4",
    "pull, 4096, 2, 2",
    "push.inline, 16, 2, 2",
    "push.memic, 48, 2, 4",
    "push.memic, 4096, 1, 2",
    "push.ring, 16, 1, 1",
    "push.ring, 48, 2, 4",
    "push.ring, 4096, 1, 2"
  })
  void every_byte_of_a_stream_arrives(String path, int size, int producers, int engines)
      throws Exception {
    PointResult result =
        run(
            "wall",
            point(
                "goodput",
                "path=" + path,
                "size=" + size,
                "producers=" + producers,
                "engines=" + engines,
                "slots=4",
                "window=4",
                "depth=8"));
    assertThat(result.basis()).isEqualTo(Basis.EMULATED);
    assertThat(result.samples().getFirst().size()).isEqualTo(4);
    assertThat(result.verifiedBytes()).isGreaterThan(4L * size);
  }

  @ParameterizedTest
  @CsvSource({"pull, 64", "push.inline, 16", "push.memic, 4096", "push.ring, 4096"})
  void one_message_at_a_time_has_a_latency_each(String path, int size) throws Exception {
    PointResult result = run("wall", point("latency", "path=" + path, "size=" + size, "engines=2"));
    double[] nanos = result.samples().getFirst().values();
    assertThat(nanos).hasSize(4);
    assertThat(Arrays.stream(nanos)).allMatch(each -> each > 0);
    assertThat(result.verifiedBytes()).isEqualTo(size);
  }

  @Test
  void in_virtual_time_a_short_message_that_is_pushed_is_done_sooner_than_one_that_is_pulled()
      throws Exception {
    String[] settings = {"path=pull", "size=64", "placement=two-gpus"};
    double pulled = latency(settings);
    settings[0] = "path=push.ring";
    assertThat(latency(settings)).isLessThan(pulled);
  }

  private double latency(String... settings) throws Exception {
    PointResult result = run("virtual", point("latency", settings));
    assertThat(result.basis()).isEqualTo(Basis.MODELLED);
    return Arrays.stream(result.samples().getFirst().values()).average().orElseThrow();
  }

  @Test
  void a_placement_with_one_gpu_is_waived_and_names_one_with_two() throws Exception {
    Point point = point("latency", "path=pull", "placement=same-switch");
    assertThatThrownBy(() -> run("virtual", point))
        .isInstanceOfSatisfying(
            PointFailure.class,
            failure -> {
              assertThat(failure.kind()).isEqualTo(PointFailure.Kind.WAIVED);
              assertThat(failure.problem().toString()).contains("two-gpus");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "path=staged, size=16 | path staged",
        "path=pull, size=24 | a message of 24 bytes",
        "path=push.inline, size=64 | 64 bytes inline",
        "path=pull, producers=2, engines=1 | 1 engines for 2 producers",
        "path=pull, depth=8, window=16 | a send ring of 8 blocks"
      })
  void what_cannot_be_is_refused_before_anything_runs(String settings, String words)
      throws Exception {
    assertThat(bench.runtime().check(point("latency", settings.split(", "))))
        .singleElement()
        .satisfies(problem -> assertThat(problem.toString()).contains(words));
  }
}
