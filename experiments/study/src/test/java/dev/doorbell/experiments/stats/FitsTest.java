package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.stats.LatencyFit.LogGpFit;
import dev.doorbell.experiments.stats.LatencyFit.PiecewiseFit;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FitsTest {
  private static final double[] SIZES = {
    8, 64, 512, 1024, 4096, 8192, 16_384, 65_536, 262_144, 1_048_576
  };

  private static double broken(double size) {
    return 2000 + 0.02 * size + 0.08 * Math.max(0, size - 10_000);
  }

  @Test
  void a_knee_without_noise_is_found_where_it_is() {
    PiecewiseFit fit = PiecewiseFit.of(SIZES, Arrays.stream(SIZES).map(FitsTest::broken).toArray());
    assertThat(fit.knee()).isCloseTo(10_000, within(1.0));
    assertThat(fit.alpha()).isCloseTo(2000, within(0.01));
    assertThat(fit.below()).isCloseTo(0.02, within(1e-5));
    assertThat(fit.above()).isCloseTo(0.1, within(1e-5));
    assertThat(fit.worstResidual()).isLessThan(1e-6);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void no_other_knee_on_a_fine_grid_fits_better(long seed) {
    Random random = new Random(seed);
    double[] noisy =
        Arrays.stream(SIZES).map(s -> broken(s) * (1 + 0.02 * random.nextGaussian())).toArray();
    PiecewiseFit fit = PiecewiseFit.of(SIZES, noisy);
    double best = squares(fit, noisy);
    for (double knee = 80; knee < 200_000; knee *= 1.01) {
      assertThat(squares(atKnee(knee, noisy), noisy))
          .as("seed %d knee %.0f", seed, knee)
          .isGreaterThanOrEqualTo(best * (1 - 1e-6));
    }
  }

  /** Weighted least squares for a fixed knee by the normal equations: no code of the fit's. */
  private static PiecewiseFit atKnee(double knee, double[] y) {
    double[][] m = new double[3][4];
    for (int i = 0; i < y.length; i++) {
      double[] row = {1 / y[i], SIZES[i] / y[i], Math.max(0, SIZES[i] - knee) / y[i], 1};
      for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
          m[r][c] += row[r] * row[c];
        }
      }
    }
    for (int pivot = 0; pivot < 3; pivot++) {
      for (int r = 0; r < 3; r++) {
        if (r != pivot) {
          double factor = m[r][pivot] / m[pivot][pivot];
          for (int c = 0; c < 4; c++) {
            m[r][c] -= factor * m[pivot][c];
          }
        }
      }
    }
    double below = m[1][3] / m[1][1];
    return new PiecewiseFit(knee, m[0][3] / m[0][0], below, below + m[2][3] / m[2][2], 0, 0);
  }

  private static double squares(PiecewiseFit fit, double[] y) {
    double sum = 0;
    for (int i = 0; i < y.length; i++) {
      double beyond = (fit.above() - fit.below()) * Math.max(0, SIZES[i] - fit.knee());
      double error = (fit.alpha() + fit.below() * SIZES[i] + beyond) / y[i] - 1;
      sum += error * error;
    }
    return sum;
  }

  @Test
  void a_line_has_no_knee_worth_naming() {
    Random random = new Random(9);
    double[] line =
        Arrays.stream(SIZES)
            .map(s -> (1500 + 0.04 * s) * (1 + 0.01 * random.nextGaussian()))
            .toArray();
    assertThat(PiecewiseFit.worthwhile(SIZES, line)).isEmpty();
    assertThat(PiecewiseFit.worthwhile(SIZES, Arrays.stream(SIZES).map(FitsTest::broken).toArray()))
        .isPresent();
    assertThat(PiecewiseFit.worthwhile(new double[] {1, 2}, new double[] {1, 2})).isEmpty();
  }

  @Test
  void the_parameters_of_loggp_are_those_that_made_the_curves() {
    double[] latencies = Arrays.stream(SIZES).map(s -> 2500 + 0.04 * (s - 1)).toArray();
    double[] intervals = Arrays.stream(SIZES).map(s -> 180 + 0.04 * (s - 1)).toArray();
    LogGpFit fit = LogGpFit.of(SIZES, latencies, intervals);
    assertThat(fit.latency()).isCloseTo(2500, within(0.1));
    assertThat(fit.gap()).isCloseTo(180, within(0.01));
    assertThat(fit.byteGap()).isCloseTo(0.04, within(1e-6));
    assertThat(fit.worstResidual()).isLessThan(1e-6);
  }

  @Test
  void a_window_that_hides_its_gap_does_not_make_a_parameter_negative() {
    double[] latencies = Arrays.stream(SIZES).map(s -> 2500 + 0.04 * s).toArray();
    double[] intervals = Arrays.stream(SIZES).map(s -> Math.max(1, 0.04 * s - 3)).toArray();
    LogGpFit fit = LogGpFit.of(SIZES, latencies, intervals);
    assertThat(fit.gap()).isPositive();
    assertThat(fit.worstResidual()).isGreaterThan(0.1);
  }

  @Test
  void fits_refuse_what_cannot_be_fitted() {
    assertThatThrownBy(() -> PiecewiseFit.of(new double[4], new double[4]))
        .hasMessageContaining("5 or more");
    assertThatThrownBy(() -> LogGpFit.of(new double[] {0, 1}, new double[2], new double[2]))
        .hasMessageContaining("sizes from 1 B");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void histogram_percentiles_are_right_to_a_thousandth(long seed) {
    Random random = new Random(seed);
    double[] samples = random.doubles(200_000).map(v -> 0.8 - 300 * Math.log(v)).toArray();
    Percentiles tail = Percentiles.of(samples);
    double[] sorted = Quantiles.sortedCopy(samples);
    double[] exact = {0.5, 0.9, 0.99, 0.999, 0.9999};
    double[] told = {tail.p50(), tail.p90(), tail.p99(), tail.p999(), tail.p9999()};
    for (int i = 0; i < exact.length; i++) {
      double value = Quantiles.ofSorted(sorted, exact[i]);
      assertThat(told[i]).as("seed %d p%s", seed, exact[i]).isCloseTo(value, within(value * 0.002));
    }
    assertThat(tail.max()).isEqualTo(sorted[sorted.length - 1]);
    assertThatThrownBy(() -> Percentiles.of(new double[] {-1}))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
