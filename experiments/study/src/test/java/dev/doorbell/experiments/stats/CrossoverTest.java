package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.stats.Crossover.Crossing;
import dev.doorbell.experiments.stats.Crossover.Lead;
import java.util.Arrays;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CrossoverTest {

  private static final double[] POWERS =
      IntStream.rangeClosed(3, 20).mapToDouble(k -> 1L << k).toArray();

  private static double[][] exactly(double[] sizes, DoubleUnaryOperator cost) {
    return Arrays.stream(sizes)
        .mapToObj(n -> new double[] {cost.applyAsDouble(n), cost.applyAsDouble(n)})
        .toArray(double[][]::new);
  }

  private static double[][] noisily(
      double[] sizes, DoubleUnaryOperator cost, double spread, int count, Random random) {
    return Arrays.stream(sizes)
        .mapToObj(
            n ->
                random
                    .doubles(count)
                    .map(u -> cost.applyAsDouble(n) * (1 + spread * (u - 0.5)))
                    .toArray())
        .toArray(double[][]::new);
  }

  /** N* = (α_a − α_b) / (1/B_b − 1/B_a), whichever sizes are compared. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void two_costs_cross_exactly_where_their_closed_form_says(int octaves) {
    double[] sizes =
        IntStream.rangeClosed(0, 20 / octaves).mapToDouble(k -> 1L << (k * octaves)).toArray();
    Crossover crossover =
        Crossover.between(
            sizes, exactly(sizes, n -> 1624 + n / 27.76), exactly(sizes, n -> 1124 + n / 25.21), 1);
    double expected = (1624 - 1124) / (1 / 25.21 - 1 / 27.76);
    assertThat(crossover.firstLead()).isEqualTo(Lead.B);
    assertThat(crossover.compared()).isEqualTo(sizes.length);
    assertThat(crossover.crossings()).hasSize(1);
    Crossing crossing = crossover.crossings().getFirst();
    assertThat(crossing.size()).isCloseTo(expected, within(expected * 1e-9));
    assertThat(crossing.before()).isEqualTo(Lead.B);
    assertThat(crossing.below()).isLessThan(expected);
    assertThat(crossing.above()).isEqualTo(crossing.below() * (1 << octaves));
    assertThat(crossing.support()).isEqualTo(1);
    // One sample a size carries no interval, and none is said.
    assertThat(crossing.interval()).isEmpty();
  }

  @Test
  void the_interval_covers_the_true_crossing_and_shrinks_with_samples() {
    Random random = new Random(8);
    DoubleUnaryOperator a = n -> 1000 + n / 20;
    DoubleUnaryOperator b = n -> 3000 + n / 40;
    double expected = 2000 / (1 / 20.0 - 1 / 40.0);
    double[] widths = new double[2];
    int[] counts = {20, 2000};
    for (int i = 0; i < 2; i++) {
      Crossover crossover =
          Crossover.between(
              POWERS,
              noisily(POWERS, a, 0.3, counts[i], random),
              noisily(POWERS, b, 0.3, counts[i], random),
              4);
      assertThat(crossover.crossings()).hasSize(1);
      Crossing crossing = crossover.crossings().getFirst();
      Interval interval = crossing.interval().orElseThrow();
      assertThat(interval.contains(crossing.size())).isTrue();
      assertThat(interval.lower()).isLessThan(expected * 1.03);
      assertThat(interval.upper()).isGreaterThan(expected * 0.97);
      widths[i] = interval.width();
    }
    assertThat(widths[1]).isLessThan(widths[0] / 4);
  }

  @Test
  void curves_that_never_meet_have_no_crossing() {
    Crossover crossover =
        Crossover.between(POWERS, exactly(POWERS, n -> 900 + n), exactly(POWERS, n -> 800 + n), 1);
    assertThat(crossover.crossings()).isEmpty();
    assertThat(crossover.firstLead()).isEqualTo(Lead.B);
  }

  @Test
  void coinciding_curves_lead_neither() {
    Crossover crossover =
        Crossover.between(POWERS, exactly(POWERS, n -> 5), exactly(POWERS, n -> 5), 1);
    assertThat(crossover.crossings()).isEmpty();
    assertThat(crossover.firstLead()).isEqualTo(Lead.NEITHER);
  }

  @Test
  void several_crossings_come_in_order_with_their_directions() {
    double[] sizes = {1, 2, 4, 8, 16, 32};
    double[][] a = {{1}, {3}, {3}, {1}, {1}, {3}};
    double[][] b = {{2}, {2}, {2}, {2}, {2}, {2}};
    Crossover crossover = Crossover.between(sizes, a, b, 1);
    assertThat(crossover.crossings())
        .extracting(Crossing::before)
        .containsExactly(Lead.A, Lead.B, Lead.A);
    assertThat(crossover.crossings()).extracting(Crossing::below).containsExactly(1.0, 4.0, 16.0);
    assertThat(crossover.crossings())
        .isSortedAccordingTo(java.util.Comparator.comparingDouble(Crossing::size));
  }

  @Test
  void a_touch_is_no_crossing_and_a_tie_between_leads_is_one() {
    double[] sizes = {1, 2, 4, 8};
    double[][] flat = {{2}, {2}, {2}, {2}};
    assertThat(Crossover.between(sizes, new double[][] {{1}, {2}, {1}, {1}}, flat, 1).crossings())
        .isEmpty();
    Crossover through = Crossover.between(sizes, new double[][] {{1}, {2}, {2}, {3}}, flat, 1);
    assertThat(through.crossings()).hasSize(1);
    Crossing crossing = through.crossings().getFirst();
    assertThat(crossing.size()).isCloseTo(Math.sqrt(8), within(1e-12));
    assertThat(crossing.below()).isEqualTo(1);
    assertThat(crossing.above()).isEqualTo(8);
  }

  @Test
  void a_crossing_that_noise_alone_may_have_made_has_little_support() {
    Random random = new Random(21);
    double[] sizes = {64, 128};
    double[][] a = noisily(sizes, n -> 1000, 0.2, 15, random);
    double[][] b = noisily(sizes, n -> 1000, 0.2, 15, random);
    for (int attempt = 0; attempt < 50; attempt++) {
      Crossover crossover = Crossover.between(sizes, a, b, 1);
      if (!crossover.crossings().isEmpty()) {
        assertThat(crossover.crossings().getFirst().support()).isLessThan(0.95);
        return;
      }
      a = noisily(sizes, n -> 1000, 0.2, 15, random);
    }
    throw new AssertionError("fifty pairs of equal curves never crossed by chance");
  }

  @Test
  void sizes_that_do_not_ascend_and_samples_that_are_not_positive_are_refused() {
    double[][] ones = {{1}, {1}};
    assertThatThrownBy(() -> Crossover.between(new double[] {8, 8}, ones, ones, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ascend");
    assertThatThrownBy(
            () -> Crossover.between(new double[] {8, 16}, ones, new double[][] {{1}, {0}}, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not positive");
  }
}
