package dev.doorbell.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProbeTest {
  @Test
  void each_outcome_says_what_is_there_or_missing_and_what_to_do() {
    assertThat(new Probe.NoDriver("libcuda.so.1", "install the NVIDIA driver").describe())
        .isEqualTo("libcuda.so.1 not found; install the NVIDIA driver");
    assertThat(new Probe.NoDevice("libibverbs", "check 'ibv_devices'").describe())
        .isEqualTo("libibverbs is there, but no device; check 'ibv_devices'");
    assertThat(
            new Probe.MissingSymbols("libmlx5", List.of("a", "b"), "update rdma-core").describe())
        .isEqualTo("libmlx5 lacks a, b; update rdma-core");
    assertThat(new Probe.Ready("CUDA 13.0", List.of("H200", "H200")).describe())
        .isEqualTo("CUDA 13.0: H200, H200");
  }

  @Test
  void what_was_probed_does_not_change_afterwards() {
    List<String> devices = new ArrayList<>(List.of("mlx5_0"));
    Probe.Ready ready = new Probe.Ready("mlx5", devices);
    devices.add("mlx5_1");
    assertThat(ready.devices()).containsExactly("mlx5_0");
  }

  @Test
  void a_basis_is_called_by_a_lower_case_word() {
    assertThat(Basis.values())
        .extracting(Basis::word)
        .containsExactly("measured", "emulated", "modelled");
  }
}
