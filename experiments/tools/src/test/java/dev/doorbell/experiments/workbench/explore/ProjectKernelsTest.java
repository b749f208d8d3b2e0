package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The project's own kernels order what they must, in every mode of posting. */
final class ProjectKernelsTest {
  private static final int SEEDS = 3;

  @ParameterizedTest
  @CsvSource({
    // kernel, blocks, threads, scope, path, queues, ringer, policy
    "put_latency,   1, 1,  block,  pull,   gpu,  gpu,   VENDOR",
    "put_latency,   1, 32, block,  stage,  gpu,  gpu,   VENDOR",
    "put_latency,   1, 1,  block,  inline, host, gpu,   STRICT",
    // Finds a proxy that reads commands with relaxed instead of acquire loads.
    "put_latency,   1, 1,  block,  pull,   host, proxy, STRICT",
    "put_bandwidth, 2, 1,  block,  pull,   gpu,  gpu,   VENDOR",
    "put_bandwidth, 2, 32, block,  stage,  host, gpu,   STRICT",
    "put_bandwidth, 2, 1,  block,  inline, gpu,  cpu,   VENDOR",
    "put_bandwidth, 2, 1,  block,  pull,   gpu,  proxy, VENDOR",
    "put_latency,   1, 32, warp,   pull,   gpu,  gpu,   VENDOR",
    "put_bandwidth, 2, 32, warp,   pull,   host, gpu,   STRICT",
    "put_bandwidth, 1, 32, warp,   inline, gpu,  gpu,   VENDOR",
    "put_rate,      2, 4,  thread, pull,   gpu,  gpu,   VENDOR",
    "put_rate,      2, 4,  thread, pull,   host, gpu,   STRICT",
    "put_rate,      2, 4,  thread, inline, gpu,  gpu,   VENDOR",
    "put_rate,      1, 32, warp,   pull,   gpu,  gpu,   VENDOR",
    "put_rate,      2, 4,  thread, pull,   host, cpu,   STRICT",
    "put_rate,      2, 4,  thread, pull,   host, proxy, STRICT",
    "post_once,     1, 1,  block,  pull,   gpu,  gpu,   VENDOR",
    "post_once,     1, 32, block,  stage,  host, gpu,   STRICT",
    "operations,    2, 4,  thread, pull,   gpu,  gpu,   VENDOR",
    "operations,    2, 4,  thread, pull,   host, gpu,   STRICT",
    "operations,    2, 32, block,  pull,   gpu,  gpu,   VENDOR",
    "operations,    2, 4,  thread, pull,   gpu,  proxy, VENDOR",
    "put_minimal,   1, 32, warp,   pull,   gpu,  gpu,   VENDOR",
    "collective,    1, 2,  thread, pull,   host, gpu,   STRICT",
    "moe,           1, 32, thread, pull,   host, gpu,   STRICT",
  })
  void nothing_is_found_in_the_projects_kernels(
      String kernel,
      int blocks,
      int threads,
      String scope,
      String path,
      String queues,
      String ringer,
      Policy policy)
      throws ScenarioException {
    // A word for each lane of a warp that shares a message.
    int bytes = scope.equals("warp") ? 256 : 32;
    Scenario scenario =
        Scenarios.of(kernel)
            .with(new Scenario.Load(blocks, threads, 2, bytes, 1, 128, 0, scope, path))
            .with(Scenarios.posting(queues, ringer, 4))
            .with(new Scenario.Rules(policy, true));
    assertClean(Scenarios.explore(scenario, SEEDS), SEEDS);
  }

  @ParameterizedTest
  @CsvSource({"false, false, true", "true, false, true", "false, true, false"})
  void blueflame_and_the_record_last_are_clean(boolean recordLast, boolean exclusive, boolean tears)
      throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_bandwidth")
            .with(new Scenario.Load(1, 1, 6, 8, 1, 64, 0, "block", "inline"))
            .with(new Scenario.Posting("gpu", "gpu", !recordLast, recordLast, exclusive, 4))
            .with(new Scenario.Rules(Policy.VENDOR, tears));
    assertClean(Scenarios.explore(scenario, SEEDS), SEEDS);
  }

  /** A thread held back between two pieces of a block does not tear it, nor does a slow HCA. */
  @Test
  void whole_blocks_stay_whole_while_an_agent_is_held_back() throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_bandwidth")
            .with(new Scenario.Load(1, 1, 6, 8, 1, 64, 0, "block", "inline"))
            .with(new Scenario.Posting("gpu", "gpu", true, false, true, 4))
            .with(new Scenario.Rules(Policy.VENDOR, false));
    for (int seed = 21; seed < 60; seed += 3) {
      Laboratory.Outcome outcome =
          Scenarios.LABORATORY.run(scenario, seed, Laboratory.Extent.of(Scenarios.PLENTY));
      assertThat(outcome.isFinding()).as("seed %d", seed).isFalse();
      assertThat(outcome.finished()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "fenced-record, VENDOR, true",
    "read-back, VENDOR, false",
    "read-back, STRICT, false"
  })
  void loads_of_what_was_stored_are_no_release(String order, Policy policy, boolean clean)
      throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_minimal")
            .with(new Scenario.Load(2, 1, 3, 32, 2, 64, 0, "thread", "pull"))
            .with(Scenarios.posting("gpu", "gpu", 4).inOrder(order))
            .with(new Scenario.Rules(policy, true));
    Explorer.Report report = Scenarios.explore(scenario, SEEDS);
    if (clean) {
      assertClean(report, SEEDS);
    } else {
      assertThat(report.found()).isEqualTo(SEEDS);
      assertThat(report.races())
          .anySatisfy(
              race -> assertThat(race.toString()).contains("store").contains("put_minimal.ptx"));
    }
  }

  @Test
  void a_warp_of_put_minimal_that_uses_its_ring_again_is_clean() throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_minimal")
            .with(new Scenario.Load(1, 32, 3, 32, 1, 64, 0, "warp", "pull"))
            .with(new Scenario.Rules(Policy.VENDOR, true));
    assertClean(Scenarios.explore(scenario, SEEDS), SEEDS);
  }

  @Test
  void an_order_of_put_minimal_is_refused_where_the_kernel_has_it_not() {
    Scenario.Posting readBack = Scenarios.posting("gpu", "gpu", 4).inOrder("read-back");
    assertThatThrownBy(() -> Scenarios.explore(Scenarios.of("put_minimal").with(readBack), 1))
        .hasMessageContaining("8 posters on 1 queue pairs");
    assertThatThrownBy(() -> Scenarios.explore(Scenarios.of("put_rate").with(readBack), 1))
        .hasMessageContaining("put_rate has no order read-back");
    assertThatThrownBy(
            () -> Scenarios.explore(Scenarios.of("put_minimal").with(readBack.inOrder("read")), 1))
        .hasMessageContaining("put_minimal has no order 'read'");
  }

  @ParameterizedTest
  @CsvSource({"collective, 2", "moe, 32"})
  void ranks_that_write_the_record_last_are_clean(String kernel, int threads)
      throws ScenarioException {
    Scenario scenario =
        Scenarios.of(kernel)
            .with(new Scenario.Load(1, threads, 2, 32, 1, 64, 0, "thread", "pull"))
            .with(new Scenario.Posting("host", "gpu", false, true, false, 4))
            .with(new Scenario.Rules(Policy.STRICT, true));
    assertClean(Scenarios.explore(scenario, SEEDS), SEEDS);
  }

  @Test
  void what_a_kernel_cannot_do_is_refused() {
    assertThatThrownBy(
            () ->
                Scenarios.explore(
                    Scenarios.of("collective").with(Scenarios.posting("gpu", "cpu", 4)), 1))
        .hasMessageContaining("collective rings by itself");
    assertThatThrownBy(
            () ->
                Scenarios.explore(
                    Scenarios.of("put_minimal")
                        .with(new Scenario.Load(2, 4, 3, 32, 1, 64, 0, "warp", "pull")),
                    1))
        .hasMessageContaining("a block has 4 threads");
    for (String kernel : List.of("put_light", "put_exclusive")) {
      assertThatThrownBy(() -> Scenarios.explore(Scenarios.of(kernel), 1))
          .hasMessageContaining("a queue pair for each thread");
    }
    Scenario noRecord =
        Scenarios.of("put_exclusive")
            .with(Scenarios.posting("gpu", "gpu", 4).inOrder("no-record"))
            .with(new Scenario.Load(1, 1, 3, 32, 1, 64, 1, "thread", "pull"));
    assertThatThrownBy(() -> Scenarios.explore(noRecord, 1))
        .hasMessageContaining("two doorbells may reach the HCA at once");
  }

  /**
   * Every kernel that is one poster alone, and several that meet: each placement of the queues, way
   * to share a queue pair, kind of completion queue and order of record and doorbell.
   */
  @ParameterizedTest
  @CsvSource({
    // kernel, blocks, threads, queue pairs, window, queues, exclusive, collapsed, record last,
    // policy
    "put_price,   1, 1, 1, 0, gpu,  false, true,  false, VENDOR",
    "put_price,   1, 1, 1, 0, host, false, true,  true,  STRICT",
    "put_price,   1, 1, 1, 0, host, false, false, false, STRICT",
    "put_price,   1, 1, 1, 0, gpu,  true,  true,  true,  VENDOR",
    "put_price,   1, 1, 1, 0, host, true,  false, false, STRICT",
    // Lone posters that stop being alone, in every phase of a post and of a wait.
    "put_price,   2, 1, 1, 0, gpu,  false, true,  false, VENDOR",
    "put_price,   3, 1, 1, 0, host, false, true,  true,  STRICT",
    "put_price,   2, 1, 1, 0, gpu,  false, false, true,  VENDOR",
    "put_price,   3, 1, 1, 0, host, false, false, false, STRICT",
    "put_price,   2, 2, 4, 0, gpu,  true,  true,  false, VENDOR",
    "put_light,   1, 1, 1, 0, gpu,  true,  true,  false, VENDOR",
    "put_light,   2, 1, 2, 0, host, true,  true,  false, STRICT",
    // A quiet after each put, and with a window so many puts a doorbell and a quiet at the end.
    "put_exclusive, 1, 1, 1, 0, gpu,  true, true, false, VENDOR",
    "put_exclusive, 1, 1, 1, 3, host, true, true, false, STRICT",
    "put_exclusive, 1, 1, 1, 0, host, true, true, true,  STRICT",
    "put_exclusive, 1, 1, 1, 1, gpu,  true, true, true,  VENDOR",
    "put_exclusive, 2, 1, 2, 3, host, true, true, true,  STRICT",
    "operations,  2, 1, 1, 0, gpu,  false, true,  false, VENDOR",
    "operations,  2, 1, 2, 0, host, true,  true,  true,  STRICT",
    "put_latency, 1, 1, 1, 0, host, false, true,  false, STRICT",
    "put_latency, 1, 1, 1, 0, gpu,  true,  true,  true,  VENDOR",
    "put_rate,    2, 2, 1, 2, host, false, true,  false, STRICT",
    "put_rate,    3, 1, 1, 1, gpu,  false, true,  true,  VENDOR",
    "put_batch,   1, 1, 1, 1, gpu,  false, true,  false, VENDOR",
    "put_batch,   1, 4, 2, 2, host, false, true,  false, STRICT",
    "put_batch,   1, 4, 2, 2, gpu,  true,  false, true,  VENDOR",
  })
  void a_wait_for_ones_own_last_post_is_ordered(
      String kernel,
      int blocks,
      int threads,
      int queuePairs,
      int window,
      String queues,
      boolean exclusive,
      boolean collapsed,
      boolean recordLast,
      Policy policy)
      throws ScenarioException {
    for (int ring : new int[] {2, 4, 64}) {
      Scenario scenario =
          Scenarios.of(kernel)
              .with(
                  new Scenario.Load(
                      blocks, threads, 5, 32, queuePairs, ring, window, "thread", "pull"))
              .with(
                  new Scenario.Posting(
                      queues,
                      "gpu",
                      false,
                      recordLast,
                      exclusive,
                      collapsed,
                      4,
                      Scenario.Posting.DEFAULT_ORDER))
              .with(new Scenario.Rules(policy, true));
      assertClean(Scenarios.explore(scenario, SEEDS), SEEDS);
    }
  }

  @ParameterizedTest
  @CsvSource({"gpu, VENDOR", "host, STRICT"})
  void puts_of_an_exclusive_poster_without_a_record_are_clean(String queues, Policy policy)
      throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_exclusive")
            .with(new Scenario.Load(1, 1, 5, 32, 1, 4, 0, "thread", "pull"))
            .with(Scenarios.posting(queues, "gpu", 4).inOrder("no-record"))
            .with(new Scenario.Rules(policy, true));
    assertClean(Scenarios.explore(scenario, SEEDS), SEEDS);
  }

  /** The fence is the only one that a post with the record last has. */
  @ParameterizedTest
  @CsvSource({
    "gpu,  VENDOR, false, 0",
    "gpu,  VENDOR, true,  0",
    "gpu,  VENDOR, true,  3",
    "host, STRICT, false, 0",
    "host, STRICT, true,  1"
  })
  void an_exclusive_poster_without_its_fences_is_found(
      String queues, Policy policy, boolean recordLast, int window) throws ScenarioException {
    Scenario whole =
        Scenarios.of("put_exclusive")
            .with(new Scenario.Load(1, 1, 6, 32, 1, 4, window, "thread", "pull"))
            .with(
                new Scenario.Posting(
                    queues,
                    "gpu",
                    false,
                    recordLast,
                    true,
                    true,
                    4,
                    Scenario.Posting.DEFAULT_ORDER))
            .with(new Scenario.Rules(policy, true));
    assertClean(Scenarios.explore(whole, SEEDS), SEEDS);
    Scenario.Program program = whole.program();
    String fence = queues.equals("gpu") ? "fence.acq_rel.gpu;" : "fence.acq_rel.sys;";
    assertThat(program.ptx()).contains(fence);
    Scenario broken =
        whole.with(
            new Scenario.Program(
                program.file(), program.entry(), program.ptx().replace(fence, "")));
    assertThat(Scenarios.explore(broken, SEEDS).found()).isEqualTo(SEEDS);
  }

  @Test
  void a_torn_blueflame_write_shows_what_an_exclusive_poster_relies_on() throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_bandwidth")
            .with(new Scenario.Load(1, 1, 6, 8, 1, 64, 0, "block", "inline"))
            .with(new Scenario.Posting("gpu", "gpu", true, false, true, 4));
    Explorer.Report report = Scenarios.explore(scenario, SEEDS);
    assertThat(report.found()).isEqualTo(SEEDS);
  }

  @Test
  @Tag("slow")
  void a_thousand_threads_come_to_their_end() throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_rate")
            .with(new Scenario.Load(4, 256, 1, 32, 1, 1024, 0, "thread", "pull"));
    assertClean(Scenarios.explore(scenario, 1), 1);
  }

  private static void assertClean(Explorer.Report report, int runs) {
    assertThat(report.races()).isEmpty();
    assertThat(report.failures()).isEmpty();
    assertThat(report.finished()).isEqualTo(runs);
  }
}
