package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.workbench.experts.Experts;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertKernels;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertOutcome;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertRun;
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

  private static String standIn(String name) throws IOException {
    return Files.readString(ForeignKernelTest.resources(DeviceApi.DEEPEP).resolve(name + ".ptx"));
  }

  private static String standIn() throws IOException {
    return standIn("stand_in_deepep");
  }

  private static String nodes() throws IOException {
    return standIn("stand_in_deepep_nodes");
  }

  private static ExpertOutcome run(String ptx, int ranks, int tokens, int top, int experts) {
    return run(ExpertKernels.LOW_LATENCY, ptx, ranks, tokens, 256, top, experts, 0);
  }

  private static ExpertOutcome run(
      ExpertKernels kernels,
      String ptx,
      int ranks,
      int tokens,
      int hidden,
      int top,
      int experts,
      int explored) {
    ExpertRun run =
        new ExpertRun(
            kernels,
            "stand_in.ptx",
            ptx,
            ranks,
            tokens,
            hidden,
            top,
            experts,
            explored > 0 ? 2 : 4,
            false,
            explored > 0 ? 1 : 2,
            Optional.empty(),
            explored > 0
                ? Optional.of(new ExpertRun.Exploration(explored, Policy.STRICT, PLENTY))
                : Optional.empty(),
            5,
            PLENTY);
    return Experts.find().run(run, () -> false);
  }

  @ParameterizedTest
  @CsvSource({"INTRANODE, 2", "INTERNODE, 16"})
  void a_machine_whose_ranks_no_nvlink_joins_is_refused_by_name(ExpertKernels kernels, int ranks)
      throws IOException {
    ExpertRun run =
        new ExpertRun(
            kernels,
            "stand_in.ptx",
            nodes(),
            ranks,
            2,
            256,
            2,
            32,
            4,
            false,
            1,
            Optional.of("h200"),
            Optional.empty(),
            5,
            PLENTY);
    ExpertOutcome outcome = Experts.find().run(run, () -> false);
    assertThat(outcome.failure().orElseThrow()).contains("'h200' has no NVLink", "h800-cx7");
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

  @ParameterizedTest
  @CsvSource({"2, 45, 3, 6", "4, 9, 2, 8", "4, 1, 1, 4"})
  void ranks_of_a_node_notify_dispatch_and_combine_twice_by_one_routing(
      int ranks, int tokens, int top, int experts) throws IOException {
    ExpertOutcome outcome =
        run(ExpertKernels.INTRANODE, nodes(), ranks, tokens, 64, top, experts, 0);
    assertThat(outcome.failure()).isEmpty();
    assertThat(outcome.phases())
        .extracting(ExpertOutcome.Phase::name)
        .startsWith(
            "layout",
            "notify_dispatch",
            "dispatch",
            "cached_notify_combine",
            "combine",
            "cached_notify_dispatch",
            "cached dispatch",
            "cached_notify_combine",
            "cached combine",
            "layout")
        .hasSize(18);
  }

  @Test
  void nodes_of_8_ranks_exchange_counts_by_rdma() throws IOException {
    ExpertOutcome outcome = run(ExpertKernels.INTERNODE, nodes(), 16, 3, 64, 2, 32, 0);
    assertThat(outcome.failure()).isEmpty();
    assertThat(outcome.phases()).hasSize(8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | 33554432        | 33554431        | cached_notify_combine: rank \\d, place of token"
            + " for rank .*",
        "2 | cvt.rn.bf16.f32 | cvt.rz.bf16.f32 | combine: rank \\d, token \\d+, element \\d+ is .*",
      })
  void what_a_kernel_of_a_node_leaves_wrong_is_named(
      int top, String right, String wrong, String message) throws IOException {
    String changed = nodes().replace(right, wrong);
    assertThat(changed).isNotEqualTo(nodes());
    ExpertOutcome outcome = run(ExpertKernels.INTRANODE, changed, 2, 9, 64, top, 4, 0);
    assertThat(outcome.failure().orElseThrow()).matches(message);
  }

  @Test
  void a_team_that_the_headers_lack_is_refused_by_name() throws IOException {
    String field = "nvshmemi_team_t.pe_mapping";
    String without = LayoutTable.change(nodes(), table -> table.drop(field));
    assertThat(run(ExpertKernels.INTERNODE, without, 16, 3, 64, 2, 32, 0).failure().orElseThrow())
        .contains("has no " + field);
  }

  @Test
  void explored_runs_find_a_barrier_without_fences_and_nothing_in_the_stand_in()
      throws IOException {
    ExpertOutcome clean = run(ExpertKernels.INTRANODE, nodes(), 2, 2, 16, 1, 2, 1);
    assertThat(clean.failure()).isEmpty();
    assertThat(clean.explored()).isEqualTo(1);
    assertThat(clean.races()).isEmpty();
    String weak = nodes().replaceAll("(?m)^.*(membar\\.sys|fence\\.[a-z_]+\\.sys);$", "");
    assertThat(weak).isNotEqualTo(nodes());
    ExpertOutcome found = run(ExpertKernels.INTRANODE, weak, 2, 2, 16, 1, 2, 1);
    assertThat(found.found()).isEqualTo(1);
    assertThat(found.races()).isNotEmpty();
  }

  @Test
  void numbers_of_ranks_that_the_host_functions_lack_are_refused() {
    assertThat(run(ExpertKernels.INTRANODE, "", 3, 3, 64, 2, 6, 0).failure().orElseThrow())
        .isEqualTo("3 ranks; a node has 2, 4 or 8");
    assertThat(run(ExpertKernels.INTERNODE, "", 8, 3, 64, 2, 8, 0).failure().orElseThrow())
        .isEqualTo("8 ranks; 2 to 4 nodes have 8 each");
    assertThat(run(ExpertKernels.INTERNODE, "", 16, 3, 64, 2, 16, 1).failure().orElseThrow())
        .startsWith("16 ranks cannot be explored");
  }
}
