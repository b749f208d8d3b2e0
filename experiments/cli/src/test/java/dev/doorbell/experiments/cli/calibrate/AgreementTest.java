package dev.doorbell.experiments.cli.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.cli.calibrate.CalibrateCommand.Agreement;
import dev.doorbell.experiments.stats.Summary;
import org.junit.jupiter.api.Test;

class AgreementTest {
  private static Summary measured(double value) {
    return Summary.of(new double[] {value}, 1);
  }

  @Test
  void points_are_counted_by_kind_and_those_that_are_far_are_named() {
    Agreement agreement = new Agreement();
    assertThat(agreement.add("stores.host.1x32.4", measured(50), 54)).isCloseTo(0.08, within(1e-9));
    agreement.add("stores.host.1x256.4", measured(40), 47);
    agreement.add("loads.host.1x32.4", measured(1), 0.9);
    agreement.add("loads.device.1x32.4", measured(1), 2);
    agreement.add("load", measured(100), 89);
    agreement.add("issue.host.8", measured(16), 24);
    agreement.add("together.device.8", measured(170), 171);
    assertThat(agreement.lines())
        .containsExactly(
            "model    1 of 2 pushes to host memory within 10 %; not: stores.host.1x256.4 +17.5 %",
            "model    1 of 1 pulls from host memory within 10 %",
            "model    0 of 1 loads of device memory within 10 %; not: loads.device.1x32.4 +100.0 %",
            "model    0 of 1 prices within 10 %; not: load -11.0 %",
            "model    1 of 2 points of loads side by side within 10 %; not: issue.host.8 +50.0 %");
  }
}
