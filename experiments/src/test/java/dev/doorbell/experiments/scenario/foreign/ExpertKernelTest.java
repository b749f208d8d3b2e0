package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.workbench.experts.ExpertOutcome;
import dev.doorbell.experiments.workbench.experts.ExpertRun;
import dev.doorbell.experiments.workbench.experts.Experts;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dispatch and combine over a stand-in for DeepEP's kernels, with its names and parameters. */
class ExpertKernelTest {
  /** More than any run here needs on a busy machine. */
  private static final long PLENTY = 120_000_000_000L;

  private static String standIn() throws IOException {
    return Files.readString(
        ForeignKernelTest.resources(DeviceApi.DEEPEP).resolve("stand_in_deepep.ptx"));
  }

  private static ExpertOutcome run(String ptx, int ranks, int tokens, int top, int experts) {
    ExpertRun run =
        new ExpertRun(
            "stand_in.ptx",
            ptx,
            ranks,
            tokens,
            256,
            top,
            experts,
            4,
            false,
            2,
            Optional.empty(),
            5,
            PLENTY);
    return Experts.find().run(run, () -> false);
  }

  @ParameterizedTest
  @CsvSource({"2, 3, 1, 2", "2, 5, 3, 6", "3, 4, 2, 6", "4, 2, 2, 4"})
  void each_expert_gets_its_tokens_and_each_token_its_sum(
      int ranks, int tokens, int top, int experts) throws IOException {
    ExpertOutcome outcome = run(standIn(), ranks, tokens, top, experts);
    assertThat(outcome.failure()).isEmpty();
    assertThat(outcome.phases())
        .extracting(ExpertOutcome.Phase::name)
        .containsExactly("dispatch", "combine", "dispatch", "combine");
  }

  @Test
  void a_wrong_sum_is_named() throws IOException {
    String wrong = standIn().replace("cvt.rn.bf16.f32", "cvt.rz.bf16.f32");
    assertThat(wrong).isNotEqualTo(standIn());
    ExpertOutcome outcome = run(wrong, 2, 3, 2, 4);
    assertThat(outcome.phases()).hasSize(1);
    assertThat(outcome.failure().orElseThrow())
        .matches("combine: rank \\d, token \\d, element \\d+ is \\S+ and should be \\S+");
  }

  @Test
  void a_field_that_the_headers_lack_is_refused_by_name() throws IOException {
    String field = "nvshmemi_ibgda_device_state_t.num_rc_per_pe";
    String without = LayoutTable.change(standIn(), table -> table.drop(field));
    assertThat(run(without, 2, 3, 2, 4).failure().orElseThrow()).contains("has no " + field);
  }

  @Test
  void a_field_that_has_moved_without_the_table_fails() throws IOException {
    String moved =
        LayoutTable.change(
            standIn(),
            table ->
                table.swap(
                    "nvshmemi_ibgda_device_state_t.globalmem.rcs",
                    "nvshmemi_ibgda_device_state_t.globalmem.qp_group_switches"));
    assertThat(run(moved, 2, 3, 2, 4).failure()).isPresent();
  }

  @Test
  void a_shape_that_the_kernels_would_assert_against_is_refused() {
    assertThat(run("", 2, 3, 2, 5).failure().orElseThrow())
        .isEqualTo("5 experts on 2 ranks; each rank has as many");
  }
}
