package dev.doorbell.experiments.results.figures.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis.Tick;
import dev.doorbell.experiments.results.print.Units;
import java.util.List;
import org.junit.jupiter.api.Test;

class AxisBuilderTest {

  private static List<String> labels(PlotAxis axis) {
    return axis.ticks().stream()
        .map(Tick::label)
        .filter(label -> !label.isEmpty())
        .map(label -> label.replace('\u00A0', ' '))
        .toList();
  }

  @Test
  void sizes_are_labelled_in_powers_of_two_with_both_ends() {
    assertThat(labels(AxisBuilder.binary("size", "B", 8, 1 << 20, 18)))
        .hasSize(18)
        .startsWith("8 B", "16 B", "32 B")
        .endsWith("512 KiB", "1 MiB");
    assertThat(labels(AxisBuilder.binary("size", "B", 8, 1 << 20, 7)))
        .containsExactly("8 B", "256 B", "2 KiB", "16 KiB", "128 KiB", "1 MiB");
    assertThat(labels(AxisBuilder.binary("size", "B", 8, 1 << 20, 5)))
        .containsExactly("8 B", "256 B", "4 KiB", "64 KiB", "1 MiB");
    assertThat(labels(AxisBuilder.binary("size", "B", 8, 1 << 20, 1)))
        .containsExactly("8 B", "1 MiB");
  }

  @Test
  void every_power_of_two_has_a_mark_whether_labelled_or_not() {
    PlotAxis axis = AxisBuilder.binary("size", "B", 8, 1 << 20, 5);
    assertThat(axis.ticks()).hasSize(18);
    assertThat(axis.ticks().stream().filter(Tick::major)).hasSize(5);
  }

  @Test
  void odd_sizes_lie_within_the_axis() {
    PlotAxis axis = AxisBuilder.binary("size", "B", 28, 220, 9);
    assertThat(labels(axis)).containsExactly("16 B", "32 B", "64 B", "128 B", "256 B");
    assertThat(axis.scale().at(28)).isBetween(0.0, 1.0);
    assertThat(axis.scale().at(220)).isBetween(0.0, 1.0);
  }

  @Test
  void a_single_size_still_has_an_axis() {
    PlotAxis axis = AxisBuilder.binary("size", "B", 64, 64, 5);
    assertThat(labels(axis)).containsExactly("64 B");
    assertThat(axis.scale().at(64)).isCloseTo(0.5, within(1e-12));
  }

  @Test
  void times_over_decades_are_labelled_by_decade_and_carry_their_unit() {
    PlotAxis axis = AxisBuilder.decades("latency", "ns", 623, 178_091);
    assertThat(labels(axis)).containsExactly("1 µs", "10 µs", "100 µs");
    assertThat(axis.title()).isEqualTo("latency");
    assertThat(axis.scale().low()).isEqualTo(500);
    assertThat(axis.scale().high()).isEqualTo(200_000);
  }

  @Test
  void times_within_two_decades_are_labelled_at_1_2_and_5() {
    assertThat(labels(AxisBuilder.decades("latency", "ns", 623, 42_723)))
        .containsExactly("500 ns", "1 µs", "2 µs", "5 µs", "10 µs", "20 µs", "50 µs");
  }

  @Test
  void values_within_a_factor_of_three_fill_the_axis() {
    assertThat(labels(AxisBuilder.decades("completion", "ns", 46_770, 61_430)))
        .containsExactly("45 µs", "50 µs", "55 µs", "60 µs", "65 µs");
    assertThat(AxisBuilder.decades("ratio", "", 0.999, 1.001).scale().low()).isLessThan(0.95);
    assertThat(AxisBuilder.decades("ratio", "", 1, 3).scale().low()).isEqualTo(0.5);
  }

  @Test
  void rates_have_their_unit_in_the_title_and_plain_ticks() {
    PlotAxis axis = AxisBuilder.decades("goodput", "GB/s", 0.056, 27.8);
    assertThat(axis.title()).isEqualTo("goodput (GB/s)");
    assertThat(labels(axis)).containsExactly("0.1", "1", "10");
  }

  @Test
  void values_that_are_all_zero_or_all_one_number_have_a_linear_axis() {
    assertThat(labels(AxisBuilder.linear("stall", "ns", 0, 0, 5)))
        .containsExactly("0 ns", "0.2 ns", "0.4 ns", "0.6 ns", "0.8 ns", "1 ns");
    assertThat(labels(AxisBuilder.linear("pulled", "", 0, 0, 2))).containsExactly("0", "0.5", "1");
    assertThat(labels(AxisBuilder.linear("change", "%", -5, -5, 5)))
        .containsExactly("-5", "-4", "-3", "-2", "-1", "0");
  }

  @Test
  void a_constant_has_a_decade_axis_about_it() {
    PlotAxis axis = AxisBuilder.decades("latency", "ns", 1000, 1000);
    assertThat(axis.scale().low()).isLessThan(1000);
    assertThat(axis.scale().high()).isGreaterThan(1000);
  }

  @Test
  void linear_axes_begin_at_zero_and_step_by_1_2_or_5() {
    PlotAxis axis = AxisBuilder.linear("goodput", "GB/s", 3.2, 26.4, 6);
    assertThat(labels(axis)).containsExactly("0", "5", "10", "15", "20", "25", "30");
    assertThat(labels(AxisBuilder.linear("share", "", 0, 0.98, 6)))
        .containsExactly("0", "0.2", "0.4", "0.6", "0.8", "1");
    assertThat(labels(AxisBuilder.linear("difference", "", -4, 8, 7)))
        .startsWith("-4")
        .endsWith("8");
  }

  @Test
  void an_axis_of_zeros_does_not_fail() {
    assertThat(AxisBuilder.linear("drops", "", 0, 0, 6).ticks()).isNotEmpty();
  }

  @Test
  void a_logarithmic_axis_cannot_show_zero() {
    assertThatThrownBy(() -> AxisBuilder.decades("goodput", "GB/s", 0, 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("logarithmic");
  }

  @Test
  void numbers_are_written_as_readers_write_them() {
    assertThat(Units.time(594)).isEqualTo("594\u00A0ns");
    assertThat(Units.time(1420)).isEqualTo("1.42\u00A0µs");
    assertThat(Units.time(999.7)).isEqualTo("1\u00A0µs");
    assertThat(Units.bytes(1536)).isEqualTo("1.5\u00A0KiB");
    assertThat(Units.bytes(1023.9)).isEqualTo("1\u00A0KiB");
    assertThat(Units.exactBytes(220)).isEqualTo("220\u00A0B");
    assertThat(Units.exactBytes(1 << 20)).isEqualTo("1\u00A0MiB");
    assertThat(Units.exactBytes(1025)).isEqualTo("1025\u00A0B");
    assertThat(Units.digits(31.508, 3)).isEqualTo("31.5");
    assertThat(Units.digits(123456, 3)).isEqualTo("123456");
    assertThat(Units.digits(0.000123456, 3)).isEqualTo("0.000123");
    assertThat(Units.fixed(0.05, 1)).isEqualTo("0.0");
  }
}
