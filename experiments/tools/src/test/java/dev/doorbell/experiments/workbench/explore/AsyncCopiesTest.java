package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Copies that are on their way until a thread has waited for them. */
class AsyncCopiesTest {
  private static final String SMALL =
      """
      cp.async.ca.shared.global [s], [%rd1], 8;
      cp.async.commit_group;
      WAIT
      ld.shared.u64 %rd5, [s];
      """;

  private static final String OUT =
      """
      st.shared.u64 [s], %rd1;
      st.shared.u64 [s+8], %rd1;
      FENCE
      cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;
      cp.async.bulk.commit_group;
      WAIT
      """;

  private static final String IN =
      """
      mbarrier.init.shared.b64 [b], 1;
      mbarrier.arrive.expect_tx.shared.b64 %rd6, [b], 16;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 16, [b];
      """;

  private static final String POLL =
      """
      POLL:
        mbarrier.try_wait.parity.shared.b64 %p1, [b], PARITY;
        @!%p1 bra POLL;
      """;

  private static Outcome run(String body) throws ScenarioException {
    String ptx =
        """
        .version 8.2
        .target sm_90
        .address_size 64
        .extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);
        .global .align 1 .b8 text[4] = {104, 105, 10, 0};
        .visible .entry k(.param .u64 samples, .param .u64 status) {
          .reg .pred %p<3>;
          .reg .b32 %r<8>;
          .reg .b64 %rd<8>;
          .shared .align 16 .b8 s[16];
          .shared .align 8 .b8 b[8];
          ld.param.u64 %rd1, [samples];
          ld.param.u64 %rd2, [status];
        BODY
          mov.u32 %r3, 0;
          st.global.u32 [%rd2], %r3;
          ret;
        }
        """
            .replace("BODY", body);
    Scenario.Shape shape =
        new Scenario.Shape(
            2,
            1,
            Scenario.Slots.THREADS,
            List.of(),
            0,
            0,
            false,
            List.of("samples", "status"),
            Optional.empty());
    Scenario scenario =
        Scenarios.of("put_rate")
            .with(new Scenario.Program("k.ptx", "k", ptx, shape))
            .with(new Scenario.Load(1, 1, 4, 64, 1, 64, 0, "thread", "pull"));
    return Scenarios.LABORATORY.run(scenario, 1, Laboratory.Extent.of(Scenarios.PLENTY));
  }

  private static List<Conflict.Kind> races(String body) throws ScenarioException {
    Outcome outcome = run(body);
    assertThat(outcome.failure()).isNull();
    return outcome.races().stream().map(Race::kind).distinct().toList();
  }

  @Test
  void a_small_copy_is_there_once_its_group_was_waited_for() throws ScenarioException {
    assertThat(races(SMALL.replace("WAIT", "cp.async.wait_group 0;"))).isEmpty();
    assertThat(races(SMALL.replace("WAIT", "cp.async.wait_all;"))).isEmpty();
    assertThat(races(SMALL.replace("WAIT", "cp.async.wait_group 1;")))
        .containsExactly(Conflict.Kind.LOAD_OF_STORE);
    assertThat(races(SMALL.replace("WAIT", ""))).containsExactly(Conflict.Kind.LOAD_OF_STORE);
  }

  @Test
  void a_bulk_copy_reads_what_a_proxy_fence_made_visible() throws ScenarioException {
    String waits = OUT.replace("WAIT", "cp.async.bulk.wait_group 0;");
    assertThat(races(waits.replace("FENCE", "fence.proxy.async;"))).isEmpty();
    assertThat(races(waits.replace("FENCE", "fence.acq_rel.sys;")))
        .containsExactly(Conflict.Kind.PROXY);
  }

  @Test
  void the_source_of_a_bulk_copy_is_free_before_its_target_is_there() throws ScenarioException {
    String reads =
        OUT.replace("FENCE", "fence.proxy.async;")
            .replace("WAIT", "cp.async.bulk.wait_group.read 0;");
    assertThat(races(reads + "st.shared.u64 [s], %rd2;\n")).isEmpty();
    assertThat(races(reads + "ld.global.u64 %rd5, [%rd1];\n"))
        .containsExactly(Conflict.Kind.LOAD_OF_STORE);
    assertThat(races(reads.replace("cp.async.bulk.wait_group.read 0;", "st.shared.u64 [s], %rd2;")))
        .containsExactly(Conflict.Kind.STORE_OVER_LOAD);
  }

  @Test
  void bulk_data_is_there_when_its_mbarrier_says_so() throws ScenarioException {
    String load = "ld.shared.u64 %rd5, [s];\n";
    assertThat(races(IN + POLL.replace("PARITY", "0") + load)).isEmpty();
    assertThat(races(IN + load)).containsExactly(Conflict.Kind.LOAD_OF_STORE);
  }

  @Test
  void an_asynchronous_store_is_there_when_its_mbarrier_says_so() throws ScenarioException {
    String store =
        """
        mbarrier.init.shared.b64 [b], 1;
        mbarrier.arrive.expect_tx.shared.b64 %rd6, [b], 8;
        mov.u32 %r4, s;
        mov.u32 %r5, b;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r4], %rd1, [%r5];
        """;
    String load = "ld.shared.u64 %rd5, [s];\n";
    assertThat(races(store + POLL.replace("PARITY", "0") + load)).isEmpty();
    assertThat(races(store + load)).containsExactly(Conflict.Kind.LOAD_OF_STORE);
  }

  @Test
  void a_trap_shows_what_the_kernel_has_printed_before() throws ScenarioException {
    Failure failure =
        Objects.requireNonNull(
            run("""
            {
              .param .b64 format;
              .param .b64 arguments;
              .param .b32 count;
              mov.u64 %rd5, text;
              st.param.b64 [format], %rd5;
              st.param.b64 [arguments], 0;
              call.uni (count), vprintf, (format, arguments);
            }
            trap;
            """)
                .failure());
    assertThat(failure.kind()).isEqualTo(Failure.Kind.KERNEL);
    assertThat(failure.text()).contains("k.ptx:").endsWith("printf   hi");
  }

  @Test
  void a_wait_for_a_phase_that_never_ends_is_a_hang() throws ScenarioException {
    Failure failure = Objects.requireNonNull(run(IN + POLL.replace("PARITY", "1")).failure());
    assertThat(failure.kind()).isEqualTo(Failure.Kind.HANG);
    assertThat(failure.text()).contains("mbarrier.try_wait");
  }
}
