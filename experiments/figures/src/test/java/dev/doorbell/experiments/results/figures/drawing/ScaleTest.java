package dev.doorbell.experiments.results.figures.drawing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class ScaleTest {
  @Test
  void both_ends_of_an_axis_are_its_ends() {
    for (Scale scale : new Scale[] {new Scale.Linear(2, 8), new Scale.Log(2, 8)}) {
      assertThat(scale.at(2)).isZero();
      assertThat(scale.at(8)).isEqualTo(1);
    }
  }

  @Test
  void the_middle_is_a_mean_of_differences_or_of_ratios() {
    assertThat(new Scale.Linear(2, 8).at(5)).isEqualTo(0.5, within(1e-12));
    assertThat(new Scale.Log(2, 8).at(4)).isEqualTo(0.5, within(1e-12));
  }

  @Test
  void a_logarithmic_axis_may_begin_close_to_zero_and_never_at_it() {
    assertThat(new Scale.Log(Double.MIN_NORMAL, 1).at(1)).isEqualTo(1);
    for (double low : new double[] {0, -0.0, -1, Double.NaN}) {
      assertThatThrownBy(() -> new Scale.Log(low, 1)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void an_axis_needs_two_ends_in_order() {
    for (double high : new double[] {3, 2, Double.NaN}) {
      assertThatThrownBy(() -> new Scale.Linear(3, high)).hasMessageContaining("an axis from 3.0");
    }
  }
}
