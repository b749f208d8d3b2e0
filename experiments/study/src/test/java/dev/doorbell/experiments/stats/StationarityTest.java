package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StationarityTest {

  /**
   * Luteinizing hormone in blood every 10 minutes: P. J. Diggle, Time Series, 1990, table A.1; its
   * correlogram is printed in W. N. Venables and B. D. Ripley, Modern Applied Statistics with S.
   */
  private static final double[] LH = {
    2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7, 2.2, 1.8, 3.2, 3.2, 2.7, 2.2, 2.2,
    1.9, 1.9, 1.8, 2.7, 3.0, 2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3, 2.6, 2.4, 1.8, 1.7, 1.5, 1.4,
    2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4, 3.0, 2.9
  };

  @Test
  void the_correlogram_of_the_hormone_data_is_the_published_one() {
    double[] correlations = Stationarity.autocorrelation(LH, 4);
    assertThat(correlations)
        .containsExactly(new double[] {0.576, 0.182, -0.145, -0.175}, within(0.0006));
  }

  /** Q = 48·50·0.576² / 47 = 16.9 with one degree of freedom. */
  @Test
  void the_ljung_box_test_of_the_hormone_data_follows_from_the_correlogram() {
    double p = Stationarity.ljungBox(LH.length, Stationarity.autocorrelation(LH, 1));
    assertThat(p).isBetween(3.6e-5, 4.2e-5);
  }

  /** Kendall's S is 45 for ten ascending values; its standard deviation is √125. */
  @Test
  void the_trend_of_ascending_values_has_the_textbook_probability() {
    double[] ascending = IntStream.range(0, 10).asDoubleStream().toArray();
    assertThat(Stationarity.trend(ascending)).isCloseTo(8.3e-5, within(0.1e-5));
    double[] descending = IntStream.range(0, 10).mapToDouble(i -> -i).toArray();
    assertThat(Stationarity.trend(descending)).isEqualTo(Stationarity.trend(ascending));
  }

  @Test
  void the_trend_counts_every_pair_and_ties_as_the_definition_does() {
    for (int seed = 0; seed < 50; seed++) {
      Random random = new Random(seed);
      double[] values = random.ints(10 + seed, 0, 8).asDoubleStream().toArray();
      double s = 0;
      for (int i = 0; i < values.length; i++) {
        for (int j = i + 1; j < values.length; j++) {
          s += Math.signum(values[j] - values[i]);
        }
      }
      double n = values.length;
      double ties = 0;
      for (int value = 0; value < 8; value++) {
        int same = value;
        double t = java.util.Arrays.stream(values).filter(v -> v == same).count();
        ties += t * (t - 1) * (2 * t + 5);
      }
      double z = (Math.abs(s) - 1) / Math.sqrt((n * (n - 1) * (2 * n + 5) - ties) / 18);
      double expected = s == 0 ? 1 : org.apache.commons.math3.special.Erf.erfc(z / Math.sqrt(2));
      assertThat(Stationarity.trend(values)).as("seed %d", seed).isCloseTo(expected, within(1e-12));
    }
  }

  @Test
  void independent_samples_of_any_shape_are_rarely_warned_about() {
    int warned = 0;
    for (int seed = 0; seed < 400; seed++) {
      Random random = new Random(seed);
      double[] samples =
          random.doubles(200).map(v -> 1000 + Math.round(-40 * Math.log(v))).toArray();
      warned +=
          SampleWarning.about(samples).stream()
                  .anyMatch(warning -> warning.kind() != SampleWarning.Kind.OUTLIERS)
              ? 1
              : 0;
    }
    assertThat(warned).isLessThanOrEqualTo(4); // 0.4 expected at one in a thousand
  }

  @Test
  void a_queue_that_fills_up_is_called_drift() {
    Random random = new Random(4);
    double[] samples = new double[300];
    for (int i = 0; i < samples.length; i++) {
      samples[i] = 1000 + i + random.nextInt(40);
    }
    assertThat(SampleWarning.about(samples))
        .extracting(SampleWarning::kind)
        .contains(SampleWarning.Kind.DRIFT);
  }

  @Test
  void samples_that_follow_each_other_are_called_dependent() {
    Random random = new Random(5);
    double[] samples = new double[500];
    double state = 0;
    for (int i = 0; i < samples.length; i++) {
      state = 0.8 * state + random.nextGaussian();
      samples[i] = 1000 + state;
    }
    assertThat(SampleWarning.about(samples))
        .extracting(SampleWarning::kind)
        .contains(SampleWarning.Kind.DEPENDENCE);
  }

  @Test
  void one_pause_among_many_samples_is_called_an_outlier_even_where_the_others_are_equal() {
    double[] samples = new double[100];
    java.util.Arrays.fill(samples, 1000);
    samples[57] = 25_000;
    List<SampleWarning> warnings = SampleWarning.about(samples);
    assertThat(warnings).hasSize(1);
    assertThat(warnings.getFirst().what())
        .isEqualTo("1 of 100 samples lies far out, the farthest at +2400.0 % from the median");
  }

  @Test
  void what_is_less_than_a_hundredth_off_is_no_outlier_however_close_the_others_are() {
    double[] samples = new double[100];
    java.util.Arrays.fill(samples, 1000);
    samples[57] = 1009;
    assertThat(SampleWarning.about(samples)).isEmpty();
    samples[57] = 1011;
    assertThat(SampleWarning.about(samples))
        .extracting(SampleWarning::kind)
        .containsExactly(SampleWarning.Kind.OUTLIERS);
  }

  @Test
  void rare_waits_among_many_nothings_are_a_distribution_and_no_outliers() {
    double[] samples = new double[100];
    for (int i = 0; i < samples.length; i += 10) {
      samples[i] = 1000 + i;
    }
    assertThat(SampleWarning.about(samples))
        .noneMatch(warning -> warning.kind() == SampleWarning.Kind.OUTLIERS);
  }

  @Test
  void few_samples_raise_a_warning_and_equal_ones_none() {
    assertThat(SampleWarning.about(new double[] {1, 2, 3}))
        .extracting(SampleWarning::kind)
        .containsExactly(SampleWarning.Kind.FEW);
    assertThat(SampleWarning.about(new double[] {7, 7, 7})).isEmpty();
  }
}
