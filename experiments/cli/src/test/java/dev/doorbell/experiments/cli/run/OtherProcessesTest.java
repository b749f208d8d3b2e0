package dev.doorbell.experiments.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.cli.Session;
import dev.doorbell.experiments.cli.ToolLauncher;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.RunFinder;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Summary;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherProcessesTest {
  @TempDir private Path folder;

  @Test
  void another_process_gets_the_command_line_less_what_is_about_this_run() {
    List<String> own =
        List.of(
            "run",
            "a.yaml",
            "-s",
            "clock=wall",
            "--processes",
            "3",
            "--tag=x",
            "-q",
            "--json",
            "--out",
            "runs",
            "--seed",
            "7");
    assertThat(OtherProcesses.arguments(own, Path.of("o")))
        .containsExactly(
            "run",
            "a.yaml",
            "-s",
            "clock=wall",
            "--seed",
            "7",
            "-s",
            "processes=1",
            "--quiet",
            "--out",
            "o");
  }

  @Test
  void virtual_time_needs_no_other_process() {
    Session session = new Session();
    session.runtime().basis = Basis.MODELLED;
    assertThat(session.type("run", "pull-vs-push", "--processes", "2", "--dry-run"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("virtual time is the same in every process");
  }

  @Tag("slow")
  @Test
  void each_process_adds_its_samples_and_counts_as_one_observation() throws Exception {
    String[] run = {
      "run",
      "pull-vs-push",
      "-s",
      "clock=wall",
      "-s",
      "size=64",
      "-s",
      "path=pull",
      "-s",
      "placement=same-switch",
      "-s",
      "samples=8",
      "-s",
      "metrics=latency",
      "--processes",
      "2",
      "--tag",
      "two",
      "-q",
      "--out",
      folder.toString()
    };
    ExperimentRuntime runtime =
        ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow();
    assertThat(ToolLauncher.run(() -> runtime, run)).isZero();
    StoredRun stored = StoredRun.read(new RunFinder(folder).find("two"));
    assertThat(new RunFinder(Path.of("elsewhere")).find(folder.resolve("two").toString()))
        .isEqualTo(stored.path());
    SummaryRow row = stored.data().rows().getFirst();
    Summary summary = SummaryFiles.summary(row, row.metrics().sequencedValues().getFirst());
    assertThat(summary.n()).isEqualTo(16);
    assertThat(summary.interval()).isPresent();
    assertThat(RunIndex.read(stored.path()).processes()).isEqualTo(2);
    Session session = new Session();
    assertThat(session.type("compare", "two", "two", "--runs", folder.toString()))
        .isEqualTo(ExitCode.UNDECIDED);
    assertThat(session.out()).contains("undecided (n = 2; run with --processes 4)");
  }
}
