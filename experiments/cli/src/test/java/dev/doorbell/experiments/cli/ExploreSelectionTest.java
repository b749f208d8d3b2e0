package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code explore --prove} and {@code explore --case}, as typed. */
class ExploreSelectionTest {
  private final Session session = new Session();

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "explore;one of KERNEL, FILE.ptx and --case is needed",
        "explore put_rate --case two-fences;one of KERNEL",
        "explore put_rate --ranks 4;the kernel does not run at all ranks of a world",
        "explore put_rate --prove --threads 64;32 agents at most",
        "explore --case tow-fences;did you mean 'two-fences'"
      })
  void what_cannot_be_explored_is_a_usage_error(String line, String what) {
    assertThat(session.type(line.split(" ", -1))).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains(what);
  }

  @Test
  void a_small_kernel_is_proved_and_a_missing_order_has_a_trace() {
    assertThat(prove("--iterations", "1")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("PROVED   no execution within 2 ranks, 1 thread each, 1 message of a thread")
        .containsPattern("\\d+ executions?, \\d+ runs cut as equal to another, in ");
    assertThat(prove("--policy", "strict")).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(session.out())
        .contains("COUNTER-EXAMPLE  ")
        .containsPattern("trace of \\d+ steps, the shortest of all executions")
        .containsPattern("\\d+  block \\(0,0,0\\) thread \\(0,0,0\\)  post_once.ptx:\\d+  st");
  }

  /** With time enough for a busy machine. */
  private ExitCode prove(String option, String value) {
    return session.type("explore", "post_once", "--prove", "--budget", "60m", option, value);
  }

  @Test
  void a_proof_without_time_is_undecided() {
    assertThat(session.type("explore", "put_latency", "--prove", "--budget", "1ms"))
        .isEqualTo(ExitCode.PARTIAL);
    assertThat(session.out()).contains("UNDECIDED   no violation so far within");
  }

  @Test
  void cases_are_listed() {
    assertThat(session.type("explore", "--case", "list")).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines()).hasSize(36);
    assertThat(session.out()).contains("two-fences           one of the two fences");
  }

  @Test
  void a_case_shows_symptom_fix_and_the_race() {
    assertThat(session.type("explore", "--case", "two-fences", "--seeds", "2"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("broken: found in 2 of 2   fixed: found in 0 of 2   as expected")
        .contains("symptom  ")
        .contains("fix      ")
        .contains("UCX#11539")
        .contains("two_fences.cu");
  }
}
