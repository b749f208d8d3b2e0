package dev.doorbell.experiments.scenario.posting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.PointResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The experiment on overlap, as configs run it. */
class OverlapPointTest {
  private static final String METRICS = "overlap, computing, communicating, together";

  private final Points points = new Points();

  @Test
  void many_steps_at_once_are_the_same_as_one_after_the_other() {
    for (int count : new int[] {0, 1, 2, 3, 31, 32, 1000}) {
      int x = 12345;
      for (int i = 0; i < count; i++) {
        x = x * 1_664_525 + 1_013_904_223;
      }
      int[] steps = OverlapKind.steps(count);
      assertThat(12345 * steps[0] + steps[1]).as("%d steps", count).isEqualTo(x);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"one", "two", "put-first", "compute-first"})
  void threads_of_the_virtual_machine_do_not_stand_in_each_others_way(String streams)
      throws Exception {
    PointResult result =
        points.run(
            Points.point(
                "put_overlap",
                METRICS,
                "blocks=3",
                "threads=32",
                "communicating=1",
                "work=60",
                "streams=" + streams));
    // One message of each thread of the communicating block, in two of three launches a sample.
    assertThat(result.verifiedBytes()).isEqualTo(3 * 2 * 32 * 64);
    assertThat(Points.most(result, "computing")).isPositive();
    assertThat(Points.most(result, "together"))
        .isLessThan(Points.most(result, "computing") + Points.most(result, "communicating"));
    assertThat(Points.most(result, "overlap")).isGreaterThan(0.5);
  }

  @Test
  void somebody_has_to_compute() throws Exception {
    assertThat(points.problems(Points.point("put_overlap", METRICS, "blocks=2", "communicating=2")))
        .containsExactly("no block is left to compute");
  }
}
