package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code doorbell run EXPERIMENT --faults PLAN}, whole: from the plan's text to what is printed.
 */
class FaultEndToEndTest {
  @TempDir private Path folder;
  private final RealSession session = new RealSession();
  private String out = "";

  private ExitCode run(String experiment, String plan, String... settings) throws IOException {
    Path file = Files.writeString(folder.resolve("plan.yaml"), plan);
    List<String> words = new ArrayList<>(List.of("run", experiment));
    words.addAll(List.of("--faults", file.toString(), "--out", folder.resolve("runs").toString()));
    for (String setting : settings) {
      words.addAll(List.of("-s", setting));
    }
    ExitCode code = session.type(words.toArray(String[]::new));
    out = session.out() + session.err();
    return code;
  }

  @Test
  void pull_vs_push_gets_over_a_lossy_wire_and_counts_what_was_done_to_it() throws IOException {
    ExitCode code =
        run(
            "pull-vs-push",
            """
            seed: 7
            faults:
              - { do: lose, at: packet 3-500, every: 50, target: rank0, must_fire: true }
              - { do: doorbell-twice, every: 3, must_fire: true }
            """,
            "path=pull",
            "placement=same-switch",
            "size=16K");
    assertThat(code).as(out).isEqualTo(ExitCode.OK);
    assertThat(out).contains("1 of 1 points verified").containsPattern("fired [1-9][0-9]* of");
  }

  @Test
  void exhausted_on_chip_memory_fails_the_paths_that_need_it_and_no_other() throws IOException {
    String plan = "faults: [ { do: memic-exhausted, target: rank0, must_fire: true } ]";
    ExitCode code =
        run("pull-vs-push", plan, "path=pull,push.memic", "placement=same-switch", "size=4K");
    assertThat(code).as(out).isEqualTo(ExitCode.FAILED);
    assertThat(out)
        .contains(
            "DB-P008", "262144 bytes of on-chip memory", "1 of 2 points verified", "fired 1 of 1")
        .doesNotContain("DB-F007");
  }

  @Test
  void a_fault_that_must_fire_and_finds_nothing_to_strike_fails_the_run() throws IOException {
    ExitCode code =
        run(
            "pull-vs-push",
            "faults: [ { do: rnr, must_fire: true } ]",
            "path=pull",
            "placement=same-switch",
            "size=4K");
    assertThat(code).as(out).isEqualTo(ExitCode.FAILED);
    assertThat(out).contains("1 of 1 points verified", "DB-F007", "the run has failed");
  }
}
