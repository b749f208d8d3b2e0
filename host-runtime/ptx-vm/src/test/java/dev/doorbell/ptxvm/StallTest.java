package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.Fabric.Pipeline;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.launch.VmOptions;
import org.junit.jupiter.api.Test;

/** How long instructions of a thread take that wait for each other. */
class StallTest {
  private static final int ISSUE = 10;
  private static final int RESULT = 42;
  private static final int DECISION = 140;
  private static final int JUMP = 76;
  private static final int CALL = 1040;
  private static final Pipeline PIPELINE = new Pipeline(ISSUE, RESULT, DECISION, JUMP, CALL);

  /** Picoseconds of a thread that executes {@code body} beyond one that does nothing. */
  private static long time(String body) {
    return whole(body, "") - whole("", "");
  }

  private static long whole(String body, String functions) {
    ParkingFabric fabric = new ParkingFabric(1, 4, PIPELINE);
    try (World world = new World(fabric, VmOptions.defaults())) {
      Memory out = world.device(64);
      world.runText(
          functions
              + """
              .visible .entry k(.param .u64 p)
              {
                .reg .pred %%q;
                .reg .b32 %%a<9>;
                .reg .b64 %%p, %%w<9>;
                ld.param.u64 %%p, [p];
                mov.u32 %%a0, %%tid.x;
                mov.u64 %%w0, 7;
                %s
                ret;
              }
              """
                  .formatted(body),
          "k",
          LaunchConfig.of(1, 1),
          new KernelArguments().add(out));
      return fabric.executed * ISSUE + fabric.stalled;
    }
  }

  @Test
  void an_instruction_waits_for_the_results_that_it_reads() {
    assertThat(time("add.u32 %a1, %a0, 1; add.u32 %a2, %a0, 2; add.u32 %a3, %a0, 3;"))
        .isEqualTo(3 * ISSUE);
    assertThat(time("add.u32 %a1, %a0, 1; add.u32 %a2, %a1, 2; add.u32 %a3, %a2, 3;"))
        .isEqualTo(2 * RESULT + ISSUE);
    assertThat(time("add.u32 %a1, %a0, 1; add.u32 %a2, %a0, 2; add.u32 %a3, %a1, 3;"))
        .isEqualTo(RESULT + ISSUE);
  }

  @Test
  void moves_and_widening_take_no_turn_and_pass_on_when_a_value_is_there() {
    assertThat(time("mov.u32 %a1, %a0; cvt.u64.u32 %w1, %a1;")).isZero();
    assertThat(time("add.u32 %a1, %a0, 1; mov.u32 %a2, %a1; add.u32 %a3, %a2, 1;"))
        .isEqualTo(RESULT + ISSUE);
  }

  @Test
  void operations_on_64_bits_take_two_turns() {
    assertThat(time("add.u64 %w1, %w0, 1; add.u64 %w2, %w0, 2;")).isEqualTo(4 * ISSUE);
    assertThat(time("add.u64 %w1, %w0, 1; add.u64 %w2, %w1, 2;")).isEqualTo(RESULT + 2 * ISSUE);
  }

  @Test
  void a_branch_waits_for_its_predicate_and_the_next_instruction_for_the_branch() {
    assertThat(time("setp.eq.u32 %q, %a0, 9; @%q bra L; L:")).isEqualTo(DECISION + ISSUE + JUMP);
    assertThat(time("setp.eq.u32 %q, %a0, 9; @%q add.u32 %a1, %a0, 1;"))
        .isEqualTo(DECISION + ISSUE);
    assertThat(time("setp.eq.u32 %q, %a0, 9; selp.b32 %a1, 1, 2, %q;")).isEqualTo(RESULT + ISSUE);
    assertThat(time("bra.uni L; L:")).isZero();
  }

  @Test
  void a_store_waits_for_its_value_however_often_it_parks() {
    assertThat(time("add.u32 %a1, %a0, 1; st.global.u32 [%p], %a1; st.global.u32 [%p+4], %a1;"))
        .isEqualTo(RESULT + 2 * ISSUE);
  }

  @Test
  void a_call_takes_its_time_and_moves_what_it_passes() {
    long called =
        whole(
            """
            {
            .param .b32 arg0;
            .param .b32 retval0;
            st.param.b32 [arg0], %a0;
            call.uni (retval0), next, (arg0);
            ld.param.b32 %a1, [retval0];
            }
            """,
            """
            .func (.param .b32 retval0) next(.param .b32 arg0)
            {
              .reg .b32 %b<3>;
              ld.param.b32 %b0, [arg0];
              add.u32 %b1, %b0, 1;
              st.param.b32 [retval0], %b1;
              ret;
            }
            """);
    long plain = whole("", "");
    // Argument stored and loaded, the sum, the result stored behind it; call and return.
    assertThat(called - plain).isEqualTo(CALL + 3L * ISSUE + RESULT + 2L * ISSUE);
  }
}
