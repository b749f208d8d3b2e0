package dev.doorbell.experiments.cli.hca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.Session;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code doorbell hca} as it is typed. */
class HcaCommandsTest {
  @TempDir Path folder;

  private final Session user = new Session();

  @Test
  void an_action_that_is_none_is_refused_with_the_nearest_one() {
    assertThat(user.type("hca", "stat", "5000")).isEqualTo(ExitCode.USAGE);
    assertThat(user.err()).contains("DB-U001").contains("stats");
    assertThat(user.type("hca")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "stats", "nowhere")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "pcap", "5000", "begin")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "serve", "--mtu", "1000")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "alltoall", "--process", "1")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void an_hca_that_nobody_serves_is_a_matter_of_the_environment() {
    assertThat(user.type("hca", "stats", "127.0.0.1:1", "--timeout", "1"))
        .isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(user.err()).contains("DB-E041").contains("127.0.0.1:1").contains("fix");
  }

  @Test
  @Tag("slow")
  void two_processes_of_four_ranks_each_lose_nothing_on_a_bad_wire() throws IOException {
    Path plan = folder.resolve("bad.yaml");
    Files.writeString(
        plan,
        """
        seed: 3
        faults:
          - {do: lose, chance: 1%, must_fire: true}
          - {do: duplicate, chance: 1%, must_fire: true}
          - {do: reorder, chance: 1%, must_fire: true}
        """);
    String messages = System.getProperty("alltoall.messages", "200000");
    ExitCode code =
        user.type(
            "hca",
            "alltoall",
            "--faults",
            plan.toString(),
            "--messages",
            messages,
            "--timeout",
            "3000");
    assertThat(user.err()).isEmpty();
    assertThat(user.out()).contains("all bytes right, nothing lost, nothing applied twice");
    assertThat(code).isEqualTo(ExitCode.OK);
  }

  @Test
  @Tag("slow")
  void an_experiment_of_two_processes_has_every_byte_right_on_a_bad_wire() throws Exception {
    Path plan = folder.resolve("bad.yaml");
    Files.writeString(
        plan,
        """
        seed: 5
        faults:
          - {do: lose, chance: 1%}
          - {do: duplicate, chance: 1%}
          - {do: reorder, chance: 1%}
        """);
    try (ChildProcess pair =
        ChildProcess.start(
            List.of(
                "run",
                "pull-vs-push",
                "--pair",
                "--faults=" + plan,
                "--out=" + folder.resolve("runs"),
                "-s",
                "path=pull,push.memic,proxy",
                "-s",
                "placement=same-switch",
                "-s",
                "size=64,16K"))) {
      StringBuilder said = new StringBuilder();
      for (String line = pair.line(); !line.contains("points verified"); line = pair.line()) {
        said.append(line).append('\n');
        assertThat(said.length()).as("%s", said).isLessThan(20_000);
      }
      assertThat(pair.await(600)).as("%s", said).isZero();
    }
  }

  @Test
  void a_pair_of_processes_is_asked_for_in_one_way() {
    assertThat(user.type("run", "pull-vs-push", "--rank", "1")).isEqualTo(ExitCode.USAGE);
    assertThat(user.err()).contains("--pair");
    assertThat(user.type("run", "pull-vs-push", "--rank", "2", "--at", "6000"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(user.type("run", "pull-vs-push", "--at", "6000")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "alltoall", "--virtual", "--process", "0", "--at", "6000"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "bench", "--idle", "-1")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  @Tag("slow")
  void a_benchmark_starts_its_other_process_and_ends_it() {
    assertThat(user.type("hca", "bench", "--sizes", "8,65536", "--rounds", "3", "--json"))
        .isEqualTo(ExitCode.OK);
    assertThat(user.out()).contains("\"basis\" : \"emulated\"").contains("\"bytes\" : 65536");
  }

  @Test
  @Tag("slow")
  void a_soak_has_its_clients_in_another_process_and_ends_it() {
    user.type("hca", "soak", "--seconds", "8", "--clients", "2", "--json");
    assertThat(user.out()).contains("\"heap\" : ", "\"verdict\" : \"");
    assertThat(user.out()).doesNotContain("a client failed", "interrupted");
    assertThat(user.type("hca", "soak", "--seconds", "1")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_served_hca_whose_process_has_ended_is_named_as_the_cause() throws Exception {
    EnvironmentException trouble =
        new EnvironmentException(Problem.of("DB-E042", null, "the other end has closed it"));
    try (ChildProcess served = ChildProcess.start(List.of("hca", "serve", "--port", "99999"))) {
      assertThat(served.await(60)).isEqualTo(ExitCode.USAGE.status());
      Problem problem = HcaProcesses.explain(trouble, served).problem();
      assertThat(problem.what()).contains("ended with status " + ExitCode.USAGE.status());
      assertThat(problem.effect()).isEqualTo("the other end has closed it");
    }
    try (ChildProcess served = ChildProcess.start(List.of("hca", "serve"))) {
      assertThat(HcaProcesses.control(served).toString()).endsWith(".socket");
      assertThat(HcaProcesses.explain(trouble, served)).isSameAs(trouble);
    }
  }
}
