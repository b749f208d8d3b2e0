package dev.doorbell.experiments.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.litmus.LitmusException;
import dev.doorbell.core.fabric.explore.litmus.LitmusMachine;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;
import dev.doorbell.core.fabric.explore.litmus.axiom.AxiomaticModel;
import dev.doorbell.core.fabric.explore.litmus.parser.LitmusParser;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.explore.LitmusRunner.Checked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A machine that shows what the axioms forbid fails a test; one that shows less decides nothing.
 */
class LitmusRunnerTest {
  private static final Bounds MACHINE = new Bounds(2, 500_000);

  private static LitmusTest test(String name) throws IOException, LitmusException {
    return LitmusParser.parse(Files.readString(Path.of("litmus", name + ".litmus")));
  }

  /** Two opinions about tests that differ in their fences alone. */
  private static Checked checked(String judged, String run) throws IOException, LitmusException {
    return new Checked(
        Path.of(judged + ".litmus"),
        AxiomaticModel.check(test(judged), Bounds.USUAL),
        LitmusMachine.run(test(run), MACHINE));
  }

  @Test
  void an_outcome_of_the_machine_that_the_axioms_forbid_is_printed_and_fails()
      throws IOException, LitmusException {
    Checked wrong = checked("SB-fence-sc", "SB-no-fence");
    Checked right = checked("SB-fence-sc", "SB-fence-sc");
    assertThat(LitmusRunner.verdict(List.of(right))).isEqualTo(ExitCode.OK);
    assertThat(LitmusRunner.verdict(List.of(right, wrong))).isEqualTo(ExitCode.FAILED);
    assertThat(LitmusRunner.line(wrong))
        .startsWith("DISAGREE")
        .contains("the machine shows what is forbidden: [P0:r0=0 P1:r0=0]");
    assertThat(LitmusRunner.line(right)).startsWith("holds").doesNotContain("forbidden:");
  }

  @Test
  void an_outcome_that_the_machine_lacks_decides_nothing() throws IOException, LitmusException {
    Checked strong = checked("SB-no-fence", "SB-fence-sc");
    assertThat(LitmusRunner.verdict(List.of(strong))).isEqualTo(ExitCode.OK);
    assertThat(LitmusRunner.line(strong)).startsWith("holds").contains("cannot show all of it");
  }
}
