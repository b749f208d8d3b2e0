package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.Configs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchTest {
  private static final int SIGTERM = 128 + 15;

  @TempDir private Path folder;

  /** SIGTERM and not SIGINT: a build in the background ignores the latter. They take one way. */
  @Test
  void a_signal_ends_a_run_with_its_summary_written_and_its_journal_whole() throws Exception {
    Path config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL);
    Path runs = folder.resolve("runs");
    List<String> command = TestProgram.java();
    command.add(SlowRun.class.getName());
    command.addAll(List.of("run", config.toString(), "--out", runs.toString(), "--jobs", "1"));
    try (TestProgram program = TestProgram.start(folder, command)) {
      while (program.isAlive() && lines(runs, "journal.jsonl") < 3) {
        Thread.sleep(20);
      }

      program.process().toHandle().destroy();

      assertThat(program.await()).as(program.said()).isEqualTo(SIGTERM);
      assertThat(program.said()).contains("3 of 5 points verified", "2 not run", "run --resume");
    }
    assertThat(lines(runs, "journal.jsonl")).isEqualTo(3);
    assertThat(lines(runs, "summary.csv")).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource({"> /dev/full, true", ">&-, true", "| head -n 1, false"})
  void output_that_is_lost_is_an_error_and_a_reader_that_has_enough_is_none(
      String output, boolean said) throws Exception {
    String command = String.join("' '", TestProgram.java("-XX:TieredStopAtLevel=1"));
    String line = "'%s' dev.doorbell.experiments.Main list %s".formatted(command, output);
    try (TestProgram shell =
        TestProgram.start(folder, List.of("bash", "-o", "pipefail", "-c", line))) {
      assertThat(shell.await()).as(shell.said()).isEqualTo(1);
      assertThat(shell.said().contains("DB-U005")).as(shell.said()).isEqualTo(said);
    }
  }

  private static long lines(Path runs, String file) throws IOException {
    if (!Files.isDirectory(runs)) {
      return 0;
    }
    try (Stream<Path> found = Files.list(runs)) {
      Optional<Path> path = found.map(run -> run.resolve(file)).filter(Files::exists).findFirst();
      if (path.isEmpty()) {
        return 0;
      }
      return Files.readString(path.get()).chars().filter(c -> c == '\n').count();
    }
  }
}
