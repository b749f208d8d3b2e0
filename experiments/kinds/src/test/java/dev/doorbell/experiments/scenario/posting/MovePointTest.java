package dev.doorbell.experiments.scenario.posting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The experiment on a GPU's own transfers, as configs run it. */
class MovePointTest {
  private final Points points = new Points();

  private static Point point(String... settings) throws Exception {
    return Points.point("host_move", "goodput", settings);
  }

  @Test
  void a_lone_warp_stores_to_the_host_faster_than_it_loads_from_it() throws Exception {
    PointResult loads = points.run(point("access=loads", "threads=2"));
    PointResult stores = points.run(point("access=stores", "threads=2"));
    assertThat(loads.verifiedBytes()).isEqualTo(3 * 64);
    assertThat(stores.verifiedBytes()).isEqualTo(3 * 64);
    assertThat(Points.most(stores, "goodput")).isGreaterThan(Points.most(loads, "goodput"));
  }

  @ParameterizedTest
  @CsvSource({"copy-in,virtual", "copy-out,wall"})
  void a_copy_engine_is_a_real_gpus(String access, String clock) throws Exception {
    Point point = point("access=" + access);
    assertThat(points.problems(point)).isEmpty();
    assertThat(points.problems(point, clock))
        .containsExactly(access + " on the PTX virtual machine");
    assertThat(points.problems(point("access=loads"), clock)).isEmpty();
  }

  @Test
  void a_copy_engine_has_neither_blocks_nor_threads() throws Exception {
    assertThat(points.problems(point("access=copy-out", "blocks=2")))
        .containsExactly("copy-out with 2 blocks of 1 threads");
    assertThat(points.problems(point("access=copy-in", "threads=64")))
        .containsExactly("copy-in with 1 blocks of 64 threads");
  }

  @Test
  void settings_of_queue_pairs_mean_nothing_to_it() throws Exception {
    assertThat(points.problems(point("qps=2"))).containsExactly("qps is 2");
  }
}
