package dev.doorbell.experiments.scenario.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.doorbell.core.Probe;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.verbs.library.VerbsProbe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RealHcaTest {
  @ParameterizedTest
  @ValueSource(strings = {"auto", "soft", "soft-hca"})
  void words_for_software_hcas_name_no_real_one(String word) {
    assertThat(RealHca.of(word)).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mlx5", "mlx5_0:1", "=rocep1s0", "^mlx5_3"})
  void other_words_are_filters_of_devices(String word) {
    assertThat(RealHca.of(word)).isEqualTo(new RealHca(word));
  }

  @Test
  void a_filter_that_cannot_be_read_says_what_would_be() {
    RealHca hca = new RealHca("mlx5_0:0");
    assertThatThrownBy(hca::find)
        .isInstanceOfSatisfying(
            EnvironmentException.class,
            refused -> {
              assertThat(refused.problem().code()).isEqualTo("DB-E006");
              assertThat(refused.problem().what()).contains("'0' is no port");
              assertThat(refused.problem().fix()).contains("mlx5_0:1");
            });
  }

  @Test
  void without_a_device_the_reason_and_two_ways_out_are_said() {
    assumeFalse(
        VerbsProbe.probeMlx5() instanceof Probe.Ready,
        "this machine has RDMA devices; nothing to miss");
    assertThatThrownBy(() -> new RealHca("mlx5").find())
        .isInstanceOfSatisfying(
            EnvironmentException.class,
            refused -> {
              assertThat(refused.problem().code()).isEqualTo("DB-E004");
              assertThat(refused.problem().what()).contains(VerbsProbe.probeMlx5().describe());
              assertThat(refused.problem().fix())
                  .contains("hca: soft", "doorbell exec --gpus 0 --");
            });
  }
}
