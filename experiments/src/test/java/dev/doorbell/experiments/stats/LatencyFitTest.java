package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.stats.LatencyFit.Weighting;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LatencyFitTest {

  /** NIST Statistical Reference Datasets, linear regression, "Norris": pairs of y and x. */
  private static final double[] NORRIS = {
    0.1, 0.2, 338.8, 337.4, 118.1, 118.2, 888.0, 884.6, 9.2, 10.1, 228.1, 226.5, 668.5, 666.3,
    998.5, 996.3, 449.1, 448.6, 778.9, 777.0, 559.2, 558.2, 0.3, 0.4, 0.1, 0.6, 778.1, 775.5,
    668.8, 666.9, 339.3, 338.0, 448.9, 447.5, 10.8, 11.6, 557.7, 556.0, 228.3, 228.1, 998.0, 995.8,
    888.8, 887.6, 119.6, 120.2, 0.3, 0.3, 0.6, 0.3, 557.6, 556.8, 339.3, 339.1, 888.0, 887.2,
    998.5, 999.0, 778.9, 779.0, 10.2, 11.1, 117.6, 118.3, 228.9, 229.2, 668.4, 669.1, 449.2, 448.9,
    0.2, 0.5
  };

  @Test
  void absolute_weighting_gives_the_certified_values_of_nist_norris() {
    int n = NORRIS.length / 2;
    double[] x = new double[n];
    double[] y = new double[n];
    Arrays.setAll(y, i -> NORRIS[2 * i]);
    Arrays.setAll(x, i -> NORRIS[2 * i + 1]);
    LatencyFit fit = LatencyFit.of(x, y, Weighting.ABSOLUTE);
    assertThat(fit.alpha()).isCloseTo(-0.262323073774029, within(1e-10));
    assertThat(fit.gap()).isCloseTo(1.00211681802045, within(1e-12));
    assertThat(fit.alphaError()).isCloseTo(0.232818234301152, within(1e-10));
    assertThat(fit.gapError()).isCloseTo(0.429796848199937e-3, within(1e-13));
  }

  /** DMA read medians of pcie-bench, Broadwell local socket, Gen3 x8: T = 540 + 0.29·N ns. */
  @Test
  void the_dma_reads_of_pcie_bench_cost_540_ns_and_0_29_ns_a_byte() {
    double[] sizes = {8, 64, 256, 512, 1024, 2048};
    double[] latencies = {546, 546, 626, 706, 853, 1133};
    LatencyFit fit = LatencyFit.of(sizes, latencies, Weighting.RELATIVE);
    assertThat(fit.alpha()).isCloseTo(540, within(6.0));
    assertThat(fit.gap()).isCloseTo(0.29, within(0.01));
    assertThat(fit.bandwidth()).isCloseTo(3.4, within(0.1));
    assertThat(fit.worstResidual()).isLessThan(0.03);
  }

  @Test
  void an_exact_line_is_found_under_either_weighting() {
    double[] sizes = {8, 512, 4096, 65536, 1048576};
    double[] latencies = Arrays.stream(sizes).map(n -> 1454 + n / 27.76).toArray();
    for (Weighting weighting : Weighting.values()) {
      LatencyFit fit = LatencyFit.of(sizes, latencies, weighting);
      assertThat(fit.alpha()).as("%s", weighting).isCloseTo(1454, within(1e-6));
      assertThat(fit.bandwidth()).as("%s", weighting).isCloseTo(27.76, within(1e-9));
      assertThat(fit.at(1024)).isCloseTo(1454 + 1024 / 27.76, within(1e-6));
      assertThat(fit.worstResidual()).isLessThan(1e-9);
    }
  }

  @Test
  void small_messages_keep_their_say_under_relative_weighting() {
    double[] sizes = {8, 64, 512, 4096, 1 << 20};
    double[] latencies = {1000, 1000, 1010, 1100, 42_000}; // the large one is 10 % off a line
    LatencyFit relative = LatencyFit.of(sizes, latencies, Weighting.RELATIVE);
    assertThat(relative.alpha()).isCloseTo(1000, within(20.0));
  }

  @Test
  void latencies_that_do_not_grow_have_no_finite_bandwidth() {
    LatencyFit flat =
        LatencyFit.of(new double[] {8, 16, 32}, new double[] {500, 499, 498}, Weighting.RELATIVE);
    assertThat(flat.bandwidth()).isInfinite();
  }

  @Test
  void too_few_points_and_times_that_are_not_positive_are_refused() {
    assertThatThrownBy(
            () -> LatencyFit.of(new double[] {1, 2}, new double[] {1, 2}, Weighting.RELATIVE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> LatencyFit.of(new double[] {1, 2, 3}, new double[] {1, 0, 2}, Weighting.RELATIVE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("latency=0.0");
  }
}
