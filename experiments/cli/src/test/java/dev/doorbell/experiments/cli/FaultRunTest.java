package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.run.FakeRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run says of its faults. */
class FaultRunTest {
  @TempDir private Path folder;
  private final Session session = new Session();
  private String config = "";
  private Path plan = Path.of("");

  @BeforeEach
  void writeFiles() throws IOException {
    config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL).toString();
    plan =
        Files.writeString(
            folder.resolve("plan.yaml"),
            "faults: [ { do: lose, chance: 1% }, { do: cqe-late, for: 1us, must_fire: true } ]");
  }

  private ExitCode run(long late, String... more) {
    session.runtime.runner =
        (point, context) -> {
          context.faults(
              List.of(
                  new FaultTally("do: lose", false, 100, 2),
                  new FaultTally("do: cqe-late", true, late * 3, late)));
          return FakeRuntime.result(point);
        };
    return session.type(
        Stream.concat(
                Stream.of(
                    "run", config, "--faults", plan + "", "--out", folder.resolve("runs") + ""),
                Stream.of(more))
            .toArray(String[]::new));
  }

  @Test
  void faults_are_counted_over_all_points_and_printed() {
    assertThat(run(1)).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("fault  fired 10 of 500  do: lose", "fault  fired 5 of 15  do: cqe-late");
  }

  @Test
  void a_run_in_which_a_fault_that_must_fire_did_not_has_failed() {
    assertThat(run(0)).isEqualTo(ExitCode.FAILED);
    assertThat(session.out())
        .contains("DB-F007", "do: cqe-late", "must fire never met an event", "the run has failed");
  }

  @Test
  void a_quiet_run_that_fails_says_why() {
    assertThat(run(0, "-q")).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-F007", "must fire never met an event");
    session.runtime.runner =
        (point, _) -> {
          throw new PointFailure(
              PointFailure.Kind.FAILED, Problem.of("DB-P001", point.id(), "an error CQE"));
        };
    String runs = folder.resolve("runs").toString();
    assertThat(session.type("run", config, "-q", "--out", runs)).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-R013", "5 points have no result", "table", "says why");
  }

  @Test
  void counts_are_in_the_journal_also_of_points_that_failed() throws IOException {
    session.runtime.runner =
        (point, context) -> {
          context.faults(List.of(new FaultTally("do: lose", true, 4, 3)));
          throw new PointFailure(
              PointFailure.Kind.FAILED, Problem.of("DB-P001", point.id(), "an error CQE"));
        };
    assertThat(
            session.type(
                "run", config, "--faults", plan.toString(), "--out", folder.resolve("runs") + ""))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("fault  fired 15 of 20  do: lose");
    try (Stream<Path> files = Files.walk(folder.resolve("runs"))) {
      Path journal = files.filter(file -> file.endsWith("journal.jsonl")).findFirst().orElseThrow();
      assertThat(Files.readAllLines(journal))
          .hasSize(5)
          .allSatisfy(
              line ->
                  assertThat(line)
                      .contains(
                          "{\"fault\":\"do: lose\",\"mustFire\":true,\"events\":4,\"fired\":3}"));
    }
  }
}
