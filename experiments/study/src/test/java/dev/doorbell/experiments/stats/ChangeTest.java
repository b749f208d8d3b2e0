package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.apache.commons.math3.distribution.BinomialDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ChangeTest {
  private static final double ALPHA = 0.05;
  private static final int PAIRS = 200;

  /** Shapes of latencies, none of them normal. */
  enum Shape {
    LONG_TAIL {
      @Override
      double draw(Random random) {
        return 1000 - 100 * Math.log(random.nextDouble());
      }
    },
    TICKS_OF_A_COARSE_CLOCK {
      @Override
      double draw(Random random) {
        return 1000 + 32 * random.nextInt(4);
      }
    },
    TWO_MODES {
      @Override
      double draw(Random random) {
        return (random.nextInt(10) < 7 ? 1000 : 1400) + 10 * random.nextGaussian();
      }
    },
    RARE_PAUSES {
      @Override
      double draw(Random random) {
        return random.nextInt(50) == 0 ? 50_000 : 1000 + random.nextInt(9);
      }
    };

    abstract double draw(Random random);
  }

  /** Tells the shapes' random numbers apart. */
  private static long place(Shape shape) {
    return List.of(Shape.values()).indexOf(shape);
  }

  /**
   * As many alarms as the level lets through, and at most what chance adds to them once in a
   * thousand such tests.
   */
  @ParameterizedTest
  @EnumSource(Shape.class)
  void two_hundred_pairs_of_the_same_raise_at_most_the_nominal_share_of_alarms(Shape shape) {
    int alarms = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
      Random random = new Random(pair * 31L + place(shape));
      double[] first = random.doubles(60).map(_ -> shape.draw(random)).toArray();
      double[] second = random.doubles(60).map(_ -> shape.draw(random)).toArray();
      alarms += Change.between(first, second, pair).ranks().p() < ALPHA ? 1 : 0;
    }
    int most = new BinomialDistribution(null, PAIRS, ALPHA).inverseCumulativeProbability(0.999);
    assertThat(alarms).as("alarms of %d pairs", PAIRS).isLessThanOrEqualTo(most);
  }

  /** Families of eight points, corrected: one alarm in a family counts. */
  @ParameterizedTest
  @EnumSource(Shape.class)
  void two_hundred_runs_of_the_same_raise_at_most_the_nominal_share_of_alarms(Shape shape) {
    int alarms = 0;
    for (int run = 0; run < PAIRS; run++) {
      Random random = new Random(run * 37L + place(shape));
      double[] p = new double[8];
      for (int point = 0; point < p.length; point++) {
        double[] first = random.doubles(30).map(_ -> shape.draw(random)).toArray();
        double[] second = random.doubles(30).map(_ -> shape.draw(random)).toArray();
        p[point] = RankComparison.of(first, second).p();
      }
      alarms += java.util.Arrays.stream(RankComparison.holm(p)).anyMatch(v -> v < ALPHA) ? 1 : 0;
    }
    int most = new BinomialDistribution(null, PAIRS, ALPHA).inverseCumulativeProbability(0.999);
    assertThat(alarms).as("alarms of %d runs", PAIRS).isLessThanOrEqualTo(most);
  }

  @ParameterizedTest
  @EnumSource(Shape.class)
  void a_change_of_ten_percent_is_found_and_its_interval_holds_it(Shape shape) {
    int found = 0;
    int held = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
      Random random = new Random(pair * 41L + place(shape));
      double[] first = random.doubles(100).map(_ -> shape.draw(random)).toArray();
      double[] second = random.doubles(100).map(_ -> 1.1 * shape.draw(random)).toArray();
      Change change = Change.between(first, second, pair);
      found += change.ranks().p() < ALPHA && change.relative() > 0 ? 1 : 0;
      held += change.interval().orElseThrow().contains(0.1) ? 1 : 0;
    }
    assertThat(found).isGreaterThan(PAIRS * 95 / 100);
    assertThat(held).isGreaterThan(PAIRS * 90 / 100);
  }

  @Test
  void samples_that_do_not_vary_have_an_interval_of_no_width() {
    double[] first = {100, 100, 100, 100, 100, 100};
    double[] second = {110, 110, 110, 110, 110, 110};
    Change change = Change.between(first, second, 1);
    assertThat(change.relative()).isCloseTo(0.1, within(1e-12));
    assertThat(change.constant()).isTrue();
    assertThat(change.interval()).contains(new Interval(change.relative(), change.relative()));
    assertThat(Change.between(new double[] {100, 100}, second, 1).interval()).isEmpty();
  }

  @Test
  void nothing_is_divided_by_a_median_of_zero() {
    double[] zero = {0, 0, 0};
    assertThat(Change.between(zero, zero, 1).relative()).isZero();
    assertThat(Change.between(zero, new double[] {0, 5, 5}, 1).relative())
        .isEqualTo(Double.POSITIVE_INFINITY);
  }
}
