package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.workbench.explore.Explorer.Reliance;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a kernel needs to come to its end. */
class ProgressTest {
  private static final int SEEDS = 3;
  private static final long ONE_SECOND = 1_000_000_000L;

  private static final String ACQUIRE = "ld.acquire.gpu.global.u32 %r2, [%rd1];";
  private static final String WEAK = "ld.global.u32 %r2, [%rd1];";
  private static final String COUNTS = "\nadd.u32 %r3, %r3, 1;\n";
  private static final String BLOCK = "%ctaid.x";
  private static final String LANE = "%tid.x";

  /** The line of the branch that closes the loop. */
  private static final String LOOP = "k.ptx:18";

  /**
   * A thread waits for a flag in the samples that another one sets.
   *
   * @param number of the thread, {@link #BLOCK} or {@link #LANE}
   * @param setter the number of the one that sets the flag
   * @param before instruction in front of the loop
   * @param load instruction of the loop
   * @param value of the flag, 0 for what nobody waits for
   */
  private record Kernel(String number, int setter, String before, String load, int value) {
    String ptx() {
      return """
      .version 8.2
      .target sm_75
      .address_size 64
      .visible .entry k(.param .u64 samples, .param .u64 status) {
        .reg .pred %p<3>;
        .reg .b32 %r<8>;
        .reg .b64 %rd<6>;
        ld.param.u64 %rd1, [samples];
        ld.param.u64 %rd2, [status];
        mov.u32 %r1, NUMBER;
        mov.u32 %r2, 0;
        setp.eq.u32 %p1, %r1, SETTER;
        @%p1 bra SET;
        BEFORE
      WAIT:
        LOAD
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra WAIT;
        bra END;
      SET:
        mov.u32 %r3, VALUE;
        st.release.gpu.global.u32 [%rd1], %r3;
      END:
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3;
        mov.u32 %r3, 0;
        st.global.u32 [%rd4], %r3;
        ret;
      }
      """
          .replace("NUMBER", number)
          .replace("SETTER", "" + setter)
          .replace("BEFORE", before)
          .replace("LOAD", load)
          .replace("VALUE", "" + value);
    }

    Scenario scenario(boolean cooperative) {
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
              Optional.empty());
      int blocks = number.equals(BLOCK) ? 2 : 1;
      return Scenarios.of("put_rate")
          .with(new Scenario.Program("k.ptx", "k", ptx(), shape))
          .with(new Scenario.Load(blocks, 3 - blocks, 1, 64, 1, 64, 0, "thread", "pull"));
    }

    Failure failure() throws ScenarioException {
      for (int seed = 1; ; seed++) {
        Laboratory.Extent extent = Laboratory.Extent.of(Scenarios.PLENTY);
        Failure failure = Scenarios.LABORATORY.run(scenario(false), seed, extent).failure();
        if (failure != null || seed == SEEDS) {
          return Objects.requireNonNull(failure);
        }
      }
    }

    List<Reliance.Kind> relies(boolean cooperative) throws ScenarioException {
      Scenario scenario = scenario(cooperative);
      assertThat(Scenarios.explore(scenario, SEEDS).isClean()).isTrue();
      return new Explorer(Scenarios.LABORATORY, scenario)
          .relies(Scenarios.PLENTY).stream().map(Reliance::kind).toList();
    }
  }

  @Test
  void a_thread_that_waits_for_ever_is_named_with_its_place() throws ScenarioException {
    Failure failure = new Kernel(BLOCK, 1, "", ACQUIRE, 0).failure();
    assertThat(failure.kind()).isEqualTo(Failure.Kind.HANG);
    assertThat(failure.text()).contains("polling at k.ptx:1").contains("block (0,0,0)");
  }

  @Test
  void threads_that_never_meet_at_a_barrier_hang_there() throws ScenarioException {
    String barrier = "barrier.sync 1, 32;";
    Failure failure = new Kernel(LANE, 1, barrier, ACQUIRE, 1).failure();
    assertThat(failure.kind()).isEqualTo(Failure.Kind.HANG);
    assertThat(failure.text()).contains("waiting at k.ptx:14");
  }

  @Test
  void a_wait_by_weak_loads_is_none_that_ends_by_promise() throws ScenarioException {
    Failure failure = new Kernel(BLOCK, 1, "", WEAK, 1).failure();
    assertThat(failure.kind()).isEqualTo(Failure.Kind.WEAK_SPIN);
    assertThat(failure.text()).contains(LOOP);
  }

  @Test
  void a_wait_by_weak_loads_for_nothing_takes_no_longer() throws ScenarioException {
    Outcome outcome =
        Scenarios.LABORATORY.run(
            new Kernel(BLOCK, 1, "", WEAK, 0).scenario(false), 1, Laboratory.Extent.of(ONE_SECOND));
    assertThat(outcome.failure())
        .isNotNull()
        .extracting(Failure::kind)
        .isEqualTo(Failure.Kind.WEAK_SPIN);
    assertThat(outcome.turns()).isLessThan(10_000);
  }

  @Test
  void a_load_that_was_taken_out_of_its_loop_leaves_an_endless_one() throws ScenarioException {
    Failure failure = new Kernel(BLOCK, 1, "mov.u32 %r2, 0;", "", 1).failure();
    assertThat(failure.kind()).isEqualTo(Failure.Kind.ENDLESS_LOOP);
    assertThat(failure.text()).contains(LOOP);
  }

  @Test
  void a_wait_by_weak_loads_that_counts_its_rounds_is_one_too() throws ScenarioException {
    Failure failure = new Kernel(BLOCK, 1, "mov.u32 %r3, 0;", WEAK + COUNTS, 1).failure();
    assertThat(failure.kind()).isEqualTo(Failure.Kind.WEAK_SPIN);
    assertThat(failure.text()).contains("k.ptx:20");
  }

  @Test
  void a_loop_that_does_nothing_but_count_is_endless() throws ScenarioException {
    Failure failure = new Kernel(BLOCK, 1, "mov.u32 %r3, 0;", COUNTS, 1).failure();
    assertThat(failure.kind()).isEqualTo(Failure.Kind.ENDLESS_LOOP);
  }

  @Test
  void a_count_of_a_wait_that_decides_when_another_loop_ends_is_no_endless_one()
      throws ScenarioException {
    String twice =
        """
        mov.u32 %r5, 0;
        INNER:
        add.u32 %r5, %r5, 1;
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p2, %r5, 2;
        @%p2 bra INNER;
        setp.ge.u32 %p1, %r3, 10;
        selp.u32 %r2, 1, 0, %p1;
        """;
    Kernel kernel = new Kernel(BLOCK, 1, "mov.u32 %r3, 0;", twice, 1);
    assertThat(Scenarios.explore(kernel.scenario(false), SEEDS).isClean()).isTrue();
  }

  @Test
  void a_wait_that_gives_up_after_some_rounds_ends_without_a_hang() throws ScenarioException {
    String bounded =
        ACQUIRE
            + COUNTS
            + """
            setp.ge.u32 %p1, %r3, 40;
            selp.u32 %r2, 1, %r2, %p1;
            """;
    Kernel kernel = new Kernel(BLOCK, 1, "mov.u32 %r3, 0;", bounded, 0);
    assertThat(Scenarios.explore(kernel.scenario(false), SEEDS).failures()).isEmpty();
  }

  @Test
  void a_loop_that_counts_ends_without_a_finding() throws ScenarioException {
    Kernel counts =
        new Kernel(BLOCK, 1, "ld.acquire.gpu.global.u32 %r3, [%rd1];", "add.u32 %r2, %r2, 1;", 1);
    assertThat(Scenarios.explore(counts.scenario(false), SEEDS).isClean()).isTrue();
  }

  @Test
  void a_block_that_waits_for_a_later_one_needs_both_at_once() throws ScenarioException {
    Kernel later = new Kernel(BLOCK, 1, "", ACQUIRE, 1);
    assertThat(later.relies(false)).containsExactly(Reliance.Kind.BLOCKS_TOGETHER);
    assertThat(later.relies(true)).as("cooperative").isEmpty();
  }

  @Test
  void a_block_that_waits_for_an_earlier_one_needs_their_order() throws ScenarioException {
    assertThat(new Kernel(BLOCK, 0, "", ACQUIRE, 1).relies(false))
        .containsExactly(Reliance.Kind.BLOCK_ORDER);
  }

  @Test
  void a_lane_that_waits_for_another_of_its_warp_needs_both_to_go_on() throws ScenarioException {
    for (int setter = 0; setter < 2; setter++) {
      assertThat(new Kernel(LANE, setter, "", ACQUIRE, 1).relies(false))
          .containsExactly(Reliance.Kind.LANES_APART);
    }
  }

  @Test
  void threads_that_do_not_wait_for_each_other_rely_on_nothing() throws ScenarioException {
    Scenario scenario = Scenarios.of("put_rate");
    assertThat(new Explorer(Scenarios.LABORATORY, scenario).relies(Scenarios.PLENTY)).isEmpty();
  }
}
