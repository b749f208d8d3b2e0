package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StrictTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  @Test
  void an_expectation_that_is_not_met_has_an_exit_code_of_its_own_on_demand() throws IOException {
    Path config =
        Files.writeString(
            folder.resolve("wrong.yaml"),
            """
            experiment: wrong
            question: Is pull faster?
            expect:
              - that: less
                metric: latency
                of: { path: pull }
                than: { path: push.memic }
                source: a test
            kernel: put_latency
            axes:
              path: [pull, push.memic]
              size: [64, 256]
            measure: { metrics: [latency], samples: 5 }
            """);
    Path runs = folder.resolve("runs");
    assertThat(session.type("run", config.toString(), "--out", runs.toString()))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("NOT MET");
    Path run;
    try (Stream<Path> made = Files.list(runs)) {
      run = made.findFirst().orElseThrow();
    }
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.type("table", run.toString(), "--strict")).isEqualTo(ExitCode.CLAIM);
    assertThat(session.type("run", config.toString(), "--strict", "--out", folder + "/strict"))
        .isEqualTo(ExitCode.CLAIM);
  }
}
