package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunEstimateTest {
  private static long guess(Point point) {
    return 20_000_000L * point.samples() / 5;
  }

  @Test
  void a_run_takes_what_its_points_are_expected_to_take() throws Exception {
    Plan plan = Plan.of(Configs.read(Configs.SMALL));
    RunEstimate estimate = new RunEstimate(RunEstimateTest::guess, 3);
    assertThat(estimate.ofRun(plan.points(), 1))
        .isEqualTo(RunEstimate.AROUND_NANOS + 3 * 20_000_000L * plan.points().size());
    assertThat(estimate.ofRun(List.of(), 4)).isZero();
  }
}
