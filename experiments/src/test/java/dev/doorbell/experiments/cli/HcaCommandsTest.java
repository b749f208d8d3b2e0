package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    String messages = System.getProperty("alltoall.messages", "100000");
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
  void a_benchmark_starts_its_other_process_and_ends_it() {
    assertThat(user.type("hca", "bench", "--sizes", "8,65536", "--rounds", "3", "--json"))
        .isEqualTo(ExitCode.OK);
    assertThat(user.out()).contains("\"basis\" : \"emulated\"").contains("\"bytes\" : 65536");
  }
}
