package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.ConfigReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of plans: what an experiment uses, and where its problems come from. */
class PlanMessagesTest {
  private static final String MIXED =
      """
      experiment: m
      question: q?
      kernel: put_bandwidth
      axes: { size: [64, 4K], window: [1, 4], path: [pull, push.inline] }
      measure:
        metrics: [goodput, rate]
      """;

  @TempDir private Path folder;
  private final RealSession session = new RealSession();

  private String mixed() throws IOException {
    return Files.writeString(folder.resolve("m.yaml"), MIXED).toString();
  }

  @Test
  void show_prints_the_settings_that_the_experiment_uses_and_means_the_same()
      throws IOException, ConfigException {
    ConfigReader reader = new ConfigReader(RealSession.runtime().names());
    for (String name : List.of("pull-vs-push", "incast", "collectives")) {
      assertThat(session.type("show", name))
          .as("%s%n%s", name, session.err())
          .isEqualTo(ExitCode.OK);
      String hash = session.out().substring(session.out().lastIndexOf(' ') + 1).strip();
      assertThat(reader.read("shown.yaml", session.out(), List.of()).hash())
          .as(name)
          .isEqualTo(hash);
    }
    session.type("show", "pull-vs-push");
    assertThat(session.out())
        .contains("  depth: 256")
        .doesNotContain("  engines:", "  rtt:", "  traffic:");
    Path edited =
        Files.writeString(
            folder.resolve("e.yaml"), session.out().replace("depth: 256", "depth: 64"));
    assertThat(session.type("run", edited.toString(), "--dry-run"))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
  }

  @Test
  void metrics_of_two_kinds_are_one_error_that_names_the_metric() throws IOException {
    String file = mixed();
    assertThat(session.type("run", file, "--dry-run")).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err())
        .startsWith(
            file + ":6:22  DB-P026  rate is measured by put_rate, and kernel is put_bandwidth")
        .contains("fix     kernel: put_rate, or leave rate out")
        .endsWith("1 error\n");
  }

  @Test
  void a_problem_of_points_has_the_place_of_the_value_that_it_names() throws IOException {
    String file = mixed();
    session.type("show", file, "-s", "metrics=goodput");
    assertThat(session.err()).contains(file + ":4:20  DB-P012  4096 bytes do not fit inline");
    session.type(
        "run", file, "--dry-run", "-s", "metrics=goodput", "-s", "path=push.bf", "-s", "size=8K");
    assertThat(session.err()).contains("-s size=8K  DB-P012  8192 bytes do not fit inline");
  }

  @Test
  void conditions_that_leave_nothing_say_what_there_is() throws IOException {
    String file = mixed();
    session.type("run", file, "--dry-run", "-s", "metrics=goodput", "--only", "size=77,path=pull");
    assertThat(session.err())
        .contains("--only size=77,path=pull  DB-C035  no point is left")
        .contains("in this plan size is 64, 4096; path is pull, push.inline");
  }
}
