package dev.doorbell.experiments.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LatencyFitTest {

  /** DMA read medians of pcie-bench, Broadwell local socket, Gen3 x8: T = 540 + 0.29·N ns. */
  @Test
  void the_dma_reads_of_pcie_bench_cost_540_ns_and_0_29_ns_a_byte() {
    double[] sizes = {8, 64, 256, 512, 1024, 2048};
    double[] latencies = {546, 546, 626, 706, 853, 1133};
    LatencyFit fit = LatencyFit.of(sizes, latencies);
    assertThat(fit.alpha()).isCloseTo(540, within(6.0));
    assertThat(fit.gap()).isCloseTo(0.29, within(0.01));
    assertThat(1 / fit.gap()).isCloseTo(3.4, within(0.1));
    assertThat(fit.worstResidual()).isLessThan(0.03);
  }

  @Test
  void an_exact_line_is_found() {
    double[] sizes = {8, 512, 4096, 65536, 1048576};
    double[] latencies = Arrays.stream(sizes).map(n -> 1454 + n / 27.76).toArray();
    LatencyFit fit = LatencyFit.of(sizes, latencies);
    assertThat(fit.alpha()).isCloseTo(1454, within(1e-6));
    assertThat(1 / fit.gap()).isCloseTo(27.76, within(1e-9));
    assertThat(fit.worstResidual()).isLessThan(1e-9);
  }

  @Test
  void small_messages_keep_their_say() {
    double[] sizes = {8, 64, 512, 4096, 1 << 20};
    double[] latencies = {1000, 1000, 1010, 1100, 42_000}; // the large one is 10 % off a line
    LatencyFit relative = LatencyFit.of(sizes, latencies);
    assertThat(relative.alpha()).isCloseTo(1000, within(20.0));
  }

  @Test
  void too_few_points_and_times_that_are_not_positive_are_refused() {
    assertThatThrownBy(() -> LatencyFit.of(new double[] {1, 2}, new double[] {1, 2}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LatencyFit.of(new double[] {1, 2, 3}, new double[] {1, 0, 2}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("latency=0.0");
  }
}
