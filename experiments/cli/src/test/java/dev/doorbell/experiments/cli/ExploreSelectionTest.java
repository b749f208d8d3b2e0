package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code explore --litmus} and {@code explore --case}, as typed. */
class ExploreSelectionTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  private String test(String claim) throws IOException {
    Path file = folder.resolve("lb.litmus");
    Files.writeString(
        file,
        """
        PTX LB
        "load buffering"
        {}
         P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
         ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;
         st.relaxed.gpu y, 1  | st.relaxed.gpu x, 1  ;
        """
            + claim);
    return file.toString();
  }

  @Test
  void a_litmus_test_prints_outcomes_and_verdict() throws IOException {
    String file = test("exists (P0:r0 == 1 /\\ P1:r0 == 1)\n");
    assertThat(session.type("explore", "--litmus", file)).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("allowed    4 outcomes in 4 executions, of 4 candidates")
        .containsPattern("\\* P0:r0=1 P1:r0=1 +1\n")
        .contains("forbidden  0 outcomes")
        .contains("verdict    exists (P0:r0 == 1 /\\ P1:r0 == 1): holds");
  }

  @ParameterizedTest
  @CsvSource({
    "~exists (P0:r0 == 1), COUNTER_EXAMPLE",
    "forall (P0:r0 == 1), COUNTER_EXAMPLE",
    "exists (P0:r0 == 5), FAILED",
    "forall (P0:r0 < 2), OK",
    "exists (P0:r0 ==, CONFIG"
  })
  void the_exit_code_says_whether_the_claim_holds(String claim, ExitCode code) throws IOException {
    assertThat(session.type("explore", "--litmus", test(claim + "\n"))).isEqualTo(code);
  }

  @Test
  void a_search_that_is_too_short_is_partial_and_says_how_to_go_on() throws IOException {
    String file = test("~exists (P0:r0 == 7)\n");
    assertThat(session.type("explore", "--litmus", file, "--executions", "1"))
        .isEqualTo(ExitCode.PARTIAL);
    assertThat(session.out()).contains("--executions N allows more").contains(": open");
  }

  @Test
  void a_folder_prints_a_line_for_each_test() throws IOException {
    test("exists (P0:r0 == 1)\n");
    Files.writeString(
        folder.resolve("one.litmus"),
        "PTX one {} P0@cta 0,gpu 0; st.weak x, 1;\nforall (x == 1)\n");
    assertThat(session.type("explore", "--litmus", folder.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines()).hasSize(3).last().isEqualTo("2 of 2 tests hold");
  }

  @Test
  void a_claim_about_every_execution_of_none_has_an_exit_code_of_its_own() throws IOException {
    String file = test("filter (P0:r0 == 7)\nforall (P0:r0 == 7)\n");
    assertThat(session.type("explore", "--litmus", file)).isEqualTo(ExitCode.VACUOUS);
    assertThat(session.out()).contains(": of none");
    assertThat(session.type("explore", "--litmus", file, "--json")).isEqualTo(ExitCode.VACUOUS);
    assertThat(session.out()).contains("\"verdict\" : \"of none\"", "\"holds\" : null");
  }

  @Test
  void a_file_that_cannot_be_read_keeps_no_other_from_being_judged() throws IOException {
    test("exists (P0:r0 == 1)\n");
    Files.writeString(folder.resolve("a.litmus"), "hello");
    assertThat(session.type("explore", "--litmus", folder.toString())).isEqualTo(ExitCode.CONFIG);
    assertThat(session.out()).contains(": holds");
    assertThat(session.err()).contains("DB-L001", "a.litmus:1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "explore;one of KERNEL, FILE.ptx, --litmus and --case is needed",
        "explore put_rate --case two-fences;one of KERNEL",
        "explore put_rate --ranks 4;the kernel does not run at all ranks of a world",
        "explore put_rate --prove --threads 64;32 agents at most",
        "explore --case tow-fences;did you mean 'two-fences'",
        "explore --litmus nowhere;there is no such file or folder",
        "explore --litmus x --rounds 99;out of range"
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
    assertThat(session.out().lines()).hasSize(37);
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
