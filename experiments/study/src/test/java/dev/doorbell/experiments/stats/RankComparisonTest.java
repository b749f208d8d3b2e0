package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.apache.commons.statistics.inference.MannWhitneyUTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RankComparisonTest {

  /**
   * Permeability of the human chorioamnion at term and at 12 to 26 weeks: M. Hollander and D. A.
   * Wolfe, Nonparametric Statistical Methods, 1973, page 69; U = 35, and P(U ≥ 35) = 0.1272.
   */
  @Test
  void the_chorioamnion_data_have_the_published_exact_probability() {
    double[] term = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    double[] early = {1.15, 0.88, 0.90, 0.74, 1.21};
    RankComparison comparison = RankComparison.of(early, term);
    assertThat(comparison.u()).isEqualTo(35);
    assertThat(comparison.p()).isCloseTo(2 * 0.1272, within(0.0002));
    assertThat(RankComparison.of(term, early).p()).isEqualTo(comparison.p());
  }

  /**
   * Ozone in New York in May and August 1973, with ties: J. M. Chambers et al., Graphical Methods
   * for Data Analysis, 1983; R's example(wilcox.test) prints W = 127.5, p-value = 0.0001208.
   */
  @Test
  void the_ozone_data_have_the_published_probability_with_ties_and_continuity() {
    double[] may = {
      41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45,
      115, 37
    };
    double[] august = {
      39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76,
      118, 84, 85
    };
    RankComparison comparison = RankComparison.of(august, may);
    assertThat(comparison.u()).isEqualTo(127.5);
    assertThat(comparison.p()).isCloseTo(0.0001208, within(0.00000005));
  }

  /** The example of cliff.delta in the R package effsize (M. Torchiano): −0.25. */
  @Test
  void cliff_s_delta_is_the_published_one() {
    double[] treatment = {10, 10, 20, 20, 20, 30, 30, 30, 40, 50};
    double[] control = {10, 20, 30, 40, 40, 50};
    RankComparison comparison = RankComparison.of(control, treatment);
    assertThat(comparison.delta()).isCloseTo(-0.25, within(1e-12));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void u_and_p_are_those_of_the_library_for_sets_of_any_size(long seed) {
    Random random = new Random(seed);
    double[] first =
        random.doubles(50 + random.nextInt(200)).map(v -> Math.floor(v * 40)).toArray();
    double[] second =
        random.doubles(50 + random.nextInt(200)).map(v -> Math.floor(v * 44)).toArray();
    RankComparison comparison = RankComparison.of(first, second);
    var reference = MannWhitneyUTest.withDefaults().test(second, first);
    assertThat(comparison.u()).as("seed %d", seed).isEqualTo(reference.getStatistic());
    assertThat(comparison.p()).as("seed %d", seed).isCloseTo(reference.getPValue(), within(1e-9));
  }

  @Test
  void sets_that_do_not_vary_are_alike_or_wholly_apart() {
    double[] ones = new double[100];
    double[] twos = new double[100];
    java.util.Arrays.fill(ones, 1);
    java.util.Arrays.fill(twos, 2);
    assertThat(RankComparison.of(ones, ones)).isEqualTo(new RankComparison(5000, 1, 0));
    assertThat(RankComparison.of(ones, twos).delta()).isEqualTo(1);
    assertThat(RankComparison.of(ones, twos).p()).isLessThan(1e-40);
  }

  /** S. P. Wright, Biometrics 48(4), 1992, and R's p.adjust(p, "holm") agree on the rule. */
  @ParameterizedTest
  @CsvSource({
    "0.01 0.02 0.03 0.04 0.05, 0.05 0.08 0.09 0.09 0.09",
    "0.04 0.01 0.03, 0.06 0.03 0.06",
    "0.6 0.7, 1 1",
    "0.02, 0.02",
  })
  void holm_s_adjustment_steps_down_and_never_turns_back(String raw, String adjusted) {
    assertThat(RankComparison.holm(numbers(raw))).containsExactly(numbers(adjusted), within(1e-12));
  }

  private static double[] numbers(String text) {
    return java.util.Arrays.stream(text.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
  }

  @Test
  void ties_of_few_samples_are_counted_out() {
    double[] three = {1, 1, 1};
    // Of 20 ways to choose 3 of 6, one in each direction is as extreme.
    assertThat(RankComparison.of(three, new double[] {2, 2, 2}).p()).isCloseTo(0.1, within(1e-12));
    // Counted by hand: mid-ranks of {1, 1, 2 | 2, 3, 3} are 1.5, 1.5, 3.5 | 3.5, 5.5, 5.5.
    assertThat(RankComparison.of(new double[] {1, 1, 2}, new double[] {2, 3, 3}).p())
        .isCloseTo(4 / 20.0, within(1e-12));
  }
}
