package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.stats.Summary.Processes;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProcessesTest {
  @Test
  void the_interval_of_two_medians_is_students() {
    // t(0.975; 1) = 12.706; of 1 and e: logarithms 0 and 1, mean 0.5, standard error 0.5
    Interval interval = Processes.interval(new double[] {1, Math.E});
    assertThat(Math.log(interval.lower())).isCloseTo(0.5 - 12.706 * 0.5, within(1e-3));
    assertThat(Math.log(interval.upper())).isCloseTo(0.5 + 12.706 * 0.5, within(1e-3));
    assertThat(Processes.interval(new double[] {-1, 1}).lower()).isCloseTo(-12.706, within(1e-3));
  }

  @Test
  void the_interval_covers_what_differs_between_processes_where_that_of_pooled_samples_does_not() {
    Random random = new Random(23);
    int covered = 0;
    int pooled = 0;
    for (int run = 0; run < 400; run++) {
      double[] samples = new double[5 * 20];
      for (int process = 0; process < 5; process++) {
        double level = 30 * Math.exp(0.2 * random.nextGaussian());
        for (int i = 0; i < 20; i++) {
          samples[process * 20 + i] = level * (1 + 0.01 * random.nextGaussian());
        }
      }
      covered += Summary.of(samples, 5, run).interval().orElseThrow().contains(30) ? 1 : 0;
      pooled += Summary.of(samples, run).interval().orElseThrow().contains(30) ? 1 : 0;
    }
    assertThat(covered).as("95 %% of 400").isBetween(366, 394);
    assertThat(pooled).isLessThan(340);
  }

  @Test
  void samples_are_divided_among_processes_in_their_order() {
    assertThat(Processes.medians(new double[] {3, 1, 2, 30, 10, 20}, 2)).containsExactly(2, 20);
    assertThatThrownBy(() -> Processes.medians(new double[] {1, 2, 3}, 2))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
