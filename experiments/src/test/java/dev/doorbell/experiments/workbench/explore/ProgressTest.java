package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a kernel needs to come to its end. */
class ProgressTest {
  private static final int SEEDS = 4;

  /** Block 0 waits for a flag in the samples, which block 1 sets where {@code sets} holds. */
  private static Scenario scenario(boolean sets, boolean cooperative) {
    String ptx =
        """
        .version 8.2
        .target sm_75
        .address_size 64
        .visible .entry k(.param .u64 samples, .param .u64 status) {
          .reg .pred %%p<3>;
          .reg .b32 %%r<4>;
          .reg .b64 %%rd<6>;
          ld.param.u64 %%rd1, [samples];
          ld.param.u64 %%rd2, [status];
          mov.u32 %%r1, %%ctaid.x;
          setp.ne.u32 %%p1, %%r1, 0;
          @%%p1 bra SET;
        WAIT:
          ld.acquire.gpu.global.u32 %%r2, [%%rd1];
          setp.eq.u32 %%p2, %%r2, 0;
          @%%p2 bra WAIT;
          bra END;
        SET:
          mov.u32 %%r3, %d;
          st.release.gpu.global.u32 [%%rd1], %%r3;
        END:
          mul.wide.u32 %%rd3, %%r1, 4;
          add.u64 %%rd4, %%rd2, %%rd3;
          mov.u32 %%r3, 0;
          st.global.u32 [%%rd4], %%r3;
          ret;
        }
        """
            .formatted(sets ? 1 : 0);
    Scenario.Shape shape =
        new Scenario.Shape(
            2,
            1,
            Scenario.Slots.THREADS,
            List.of(),
            0,
            0,
            cooperative,
            List.of("samples", "status"),
            Optional.empty(),
            Optional.empty());
    return Scenarios.of("put_rate")
        .with(new Scenario.Program("k.ptx", "k", ptx, shape))
        .with(new Scenario.Load(2, 1, 1, 64, 1, 64, 0, "thread", "pull"));
  }

  private static boolean needsBlocksTogether(Scenario scenario) throws ScenarioException {
    return new Explorer(Scenarios.LABORATORY, scenario).needsBlocksTogether(Scenarios.PLENTY);
  }

  @Test
  void a_thread_that_waits_for_ever_is_named_with_its_place() throws ScenarioException {
    Explorer.Report report = Scenarios.explore(scenario(false, false), SEEDS);
    assertThat(report.failures())
        .singleElement()
        .satisfies(found -> assertThat(found.what().text()).contains("k.ptx:1"));
  }

  @Test
  void a_block_that_waits_for_a_later_one_needs_both_at_once() throws ScenarioException {
    assertThat(Scenarios.explore(scenario(true, false), SEEDS).isClean()).isTrue();
    assertThat(needsBlocksTogether(scenario(true, false))).isTrue();
    assertThat(needsBlocksTogether(scenario(true, true))).as("cooperative").isFalse();
  }

  @Test
  void blocks_that_do_not_wait_for_each_other_run_in_any_number() throws ScenarioException {
    Scenario scenario = Scenarios.of("put_rate");
    assertThat(needsBlocksTogether(scenario)).isFalse();
  }
}
