package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.commons.math3.distribution.BinomialDistribution;
import org.apache.commons.math3.stat.correlation.PearsonsCorrelation;
import org.apache.commons.math3.stat.descriptive.moment.StandardDeviation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Against B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, Chapman and Hall 1993
 * (page and table numbers are that book's), and against closed forms.
 */
class BootstrapTest {

  /** Table 14.1, spatial test data, column A. */
  private static final double[] SPATIAL_A = {
    48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30,
    41
  };

  /** Table 2.1, survival times of mice, days. */
  private static final double[] MICE_TREATED = {94, 197, 16, 38, 99, 141, 23};

  private static double plugInVariance(double[] values) {
    double mean = Arrays.stream(values).average().orElseThrow();
    return Arrays.stream(values).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
  }

  @Test
  void the_variance_of_the_spatial_data_is_the_published_one() {
    assertThat(plugInVariance(SPATIAL_A)).isCloseTo(171.5, within(0.05));
  }

  /** Table 14.2 has (100.8, 233.9), from 2000 replicates as well; SciPy (97.8, 235.6). */
  @Test
  void the_percentile_interval_of_the_spatial_variance_is_the_published_one() {
    Interval percentile =
        Bootstrap.percentile(SPATIAL_A, BootstrapTest::plugInVariance, 0.90, 200_000, 14);
    assertThat(percentile.lower()).isCloseTo(97.8, within(0.8));
    assertThat(percentile.upper()).isCloseTo(235.6, within(1.2));
  }

  /** Table 2.2: 37.83 for infinitely many replicates. */
  @Test
  void the_standard_error_of_the_mouse_median_is_the_published_one() {
    double[] sorted = Quantiles.sortedCopy(MICE_TREATED);
    double[] replicates = Bootstrap.medianReplicates(sorted, 200_000, 2);
    assertThat(new StandardDeviation().evaluate(replicates)).isCloseTo(37.83, within(0.3));
  }

  /** Table 3.1: LSAT score and grade point average of 15 law schools. */
  private static final double[][] LAW_SCHOOLS = {
    {576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594},
    {3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96}
  };

  /** Schools are resampled as pairs, by their numbers. */
  private static double correlation(double[] schools) {
    double[] scores = Arrays.stream(schools).map(i -> LAW_SCHOOLS[0][(int) i]).toArray();
    double[] averages = Arrays.stream(schools).map(i -> LAW_SCHOOLS[1][(int) i]).toArray();
    return new PearsonsCorrelation().correlation(scores, averages);
  }

  /** Section 6.3: the correlation is 0.776, its standard error 0.132 for 3200 replicates. */
  @Test
  void the_standard_error_of_the_law_school_correlation_is_the_published_one() {
    double[] schools = IntStream.range(0, 15).asDoubleStream().toArray();
    assertThat(correlation(schools)).isCloseTo(0.776, within(0.0005));
    double[] replicates = Bootstrap.replicates(schools, BootstrapTest::correlation, 20_000, 15);
    assertThat(new StandardDeviation().evaluate(replicates)).isCloseTo(0.132, within(0.004));
  }

  /**
   * P(median* ≤ x(k)) = P(Bin(n, k/n) ≥ (n+1)/2), Efron, Annals of Statistics 7(1), 1979, section
   * 3.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7, 31, 201})
  void medians_of_odd_samples_have_the_closed_form_distribution(int n) {
    double[] ranks = new double[n];
    Arrays.setAll(ranks, i -> i + 1);
    int count = 100_000;
    double[] replicates = Bootstrap.medianReplicates(ranks, count, n);
    for (int k = 1; k <= n; k++) {
      int limit = k;
      double observed = Arrays.stream(replicates).filter(r -> r <= limit).count() / (double) count;
      BinomialDistribution atMost = new BinomialDistribution(null, n, (double) k / n);
      double expected = 1 - atMost.cumulativeProbability((n + 1) / 2 - 1);
      assertThat(observed).as("n=%d k=%d", n, k).isCloseTo(expected, within(0.008));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 10, 33, 100})
  void drawing_medians_and_resampling_for_them_agree(int n) {
    Random random = new Random(n);
    double[] samples = random.doubles(n, 100, 200).toArray();
    int count = 60_000;
    double[] drawn = Bootstrap.medianReplicates(Quantiles.sortedCopy(samples), count, 5);
    double[] resampled =
        Bootstrap.replicates(
            samples, s -> Quantiles.medianOfSorted(Quantiles.sortedCopy(s)), count, 6);
    Arrays.sort(drawn);
    Arrays.sort(resampled);
    assertThat(largestDistance(drawn, resampled))
        .as("Kolmogorov-Smirnov distance, n=%d", n)
        .isLessThan(1.95 / Math.sqrt(count / 2.0)); // p = 0.001
  }

  /** Kolmogorov-Smirnov distance of ascending samples of equal size, ties included. */
  private static double largestDistance(double[] x, double[] y) {
    int i = 0;
    int j = 0;
    double largest = 0;
    while (i < x.length && j < y.length) {
      double value = Math.min(x[i], y[j]);
      while (i < x.length && x[i] <= value) {
        i++;
      }
      while (j < y.length && y[j] <= value) {
        j++;
      }
      largest = Math.max(largest, Math.abs((double) i / x.length - (double) j / y.length));
    }
    return largest;
  }

  @Test
  void ninety_five_percent_intervals_of_the_median_cover_it_about_that_often() {
    long seed = 77;
    Random random = new Random(seed);
    int covered = 0;
    int trials = 600;
    for (int trial = 0; trial < trials; trial++) {
      double[] samples = new double[101];
      Arrays.setAll(samples, i -> Math.exp(random.nextGaussian())); // skewed, median 1
      covered += Bootstrap.ofMedian(samples, trial).contains(1) ? 1 : 0;
    }
    assertThat((double) covered / trials).as("seed %d", seed).isBetween(0.92, 0.98);
  }

  @Test
  void equal_samples_have_intervals_of_zero_width() {
    double[] equal = {7, 7, 7, 7, 7};
    assertThat(Bootstrap.ofMedian(equal, 1)).isEqualTo(new Interval(7, 7));
  }

  @Test
  void the_seed_alone_decides_the_interval() {
    double[] samples = new Random(3).doubles(200).toArray();
    assertThat(Bootstrap.ofMedian(samples, 9)).isEqualTo(Bootstrap.ofMedian(samples, 9));
    assertThat(Bootstrap.medianReplicates(Quantiles.sortedCopy(samples), 10, 9))
        .isNotEqualTo(Bootstrap.medianReplicates(Quantiles.sortedCopy(samples), 10, 10));
  }

  @Test
  void impossible_levels_and_too_few_samples_are_refused() {
    double[] two = {1, 2};
    assertThatThrownBy(() -> Bootstrap.percentile(two, s -> s[0], 1.0, 10, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("level=1.0");
    assertThatThrownBy(() -> Bootstrap.percentile(new double[0], s -> s[0], 0.9, 10, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("samples=0");
  }
}
