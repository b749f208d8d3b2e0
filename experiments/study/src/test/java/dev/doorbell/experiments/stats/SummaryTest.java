package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SummaryTest {

  @Test
  void the_median_is_that_of_numpy() {
    // numpy.median: 3.5
    double[] samples = {9, 1, 5, 2, 6, 2};
    Summary summary = Summary.of(samples, 1);
    assertThat(summary.median()).isEqualTo(3.5);
    assertThat(summary.min()).isEqualTo(1);
    assertThat(summary.max()).isEqualTo(9);
    assertThat(summary.n()).isEqualTo(6);
    assertThat(samples).as("the samples stay as they were").containsExactly(9, 1, 5, 2, 6, 2);
  }

  @Test
  void the_interval_holds_the_median_and_narrows_with_samples() {
    Random random = new Random(11);
    Summary few = Summary.of(random.doubles(30, 1000, 1100).toArray(), 5);
    Summary many = Summary.of(random.doubles(30_000, 1000, 1100).toArray(), 5);
    assertThat(few.whisker().lower()).isLessThan(few.median());
    assertThat(few.whisker().upper()).isGreaterThan(few.median());
    assertThat(many.relativeHalfWidth()).isLessThan(few.relativeHalfWidth() / 5);
  }

  @Test
  void too_few_samples_carry_no_interval_and_no_tail() {
    assertThat(Summary.of(new double[] {1454}, 3))
        .isEqualTo(new Summary(1454, Optional.empty(), OptionalDouble.empty(), 1454, 1454, 1));
    double[] samples = new Random(3).doubles(100, 1000, 1100).toArray();
    assertThat(Summary.of(Arrays.copyOf(samples, 5), 3).interval()).isEmpty();
    assertThat(Summary.of(Arrays.copyOf(samples, 6), 3).interval()).isPresent();
    assertThat(Summary.of(Arrays.copyOf(samples, 99), 3).p99()).isEmpty();
    assertThat(Summary.of(samples, 3).p99()).isPresent();
    assertThat(Summary.of(new double[] {1, 2}, 3).relativeHalfWidth()).isInfinite();
  }

  @Test
  void a_rank_test_of_three_and_three_cannot_reach_five_percent() {
    assertThat(SampleSize.leastP(3, 3)).isCloseTo(0.1, within(1e-12));
    assertThat(SampleSize.leastP(4, 4)).isCloseTo(2 / 70.0, within(1e-12));
    assertThat(SampleSize.leastP(1, 60)).isCloseTo(2 / 61.0, within(1e-12));
    assertThat(SampleSize.decidable(1, 0.05)).isEqualTo(4);
    assertThat(SampleSize.decidable(100, 0.05)).isEqualTo(8);
  }

  @Test
  void equal_samples_have_zero_width() {
    double[] equal = new double[1000];
    Arrays.fill(equal, 2674.25);
    Summary summary = Summary.of(equal, 3);
    assertThat(summary.interval()).contains(new Interval(2674.25, 2674.25));
    assertThat(summary.relativeHalfWidth()).isZero();
  }

  @Test
  void millions_of_samples_cost_a_sort() {
    double[] samples = new Random(1).doubles(2_000_000).toArray();
    Summary summary = Summary.of(samples, 3);
    // The order-statistic interval of a uniform median: 0.5 ± 1.96/(2·sqrt(n)).
    assertThat(summary.whisker().width()).isCloseTo(1.96 / Math.sqrt(2e6), within(1e-4));
  }

  @Test
  void what_is_no_sample_is_refused() {
    assertThatThrownBy(() -> Summary.of(new double[0], 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no samples");
    assertThatThrownBy(() -> Summary.of(new double[] {1, Double.NaN}, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("finite");
  }
}
