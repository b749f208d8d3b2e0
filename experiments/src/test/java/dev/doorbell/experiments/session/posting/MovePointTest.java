package dev.doorbell.experiments.session.posting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import org.junit.jupiter.api.Test;

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

  @Test
  void settings_of_queue_pairs_mean_nothing_to_it() throws Exception {
    assertThat(points.problems(point("qps=2"))).containsExactly("qps is 2");
  }
}
