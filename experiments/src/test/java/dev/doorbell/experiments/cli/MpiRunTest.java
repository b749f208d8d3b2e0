package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.doorbell.experiments.config.Configs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run among processes that Open MPI has started. */
@Tag("slow")
class MpiRunTest {
  @TempDir private Path folder;

  @BeforeEach
  void needMpi() {
    boolean installed =
        Arrays.stream(String.valueOf(System.getenv("PATH")).split(":", -1))
            .anyMatch(place -> Files.isExecutable(Path.of(place, "mpirun")));
    assumeThat(installed).as("no mpirun on PATH; 'apt-get install openmpi-bin'").isTrue();
  }

  @Test
  void four_processes_share_a_plan_and_rank_0_shows_the_whole() throws Exception {
    Path config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL);
    String out = mpirun(4, config, 0);
    assertThat(out)
        .contains("rank 0 ", "rank 1 ", "rank 2 ", "rank 3 ")
        .contains("5 of 5 points verified (41,920 bytes compared); 0 failed; 0 waived.");
    try (Stream<Path> runs = Files.list(folder.resolve("runs"))) {
      assertThat(runs).hasSize(4);
    }
  }

  @Test
  void a_rank_with_another_config_stops_all_of_them() throws Exception {
    Path config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL);
    String out = mpirun(4, config, 4, "--seed-of-rank-2");
    assertThat(out).contains("DB-E052", "rank 2 runs another config than rank 0");
  }

  private String mpirun(int ranks, Path config, int exit, String... more)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", Integer.toString(ranks)));
    command.addAll(TestProgram.java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add(RankRun.class.getName());
    command.addAll(List.of(more));
    command.addAll(List.of("run", config.toString(), "--out", folder.resolve("runs").toString()));
    try (TestProgram job = TestProgram.start(folder, command)) {
      assertThat(job.await()).as(job.said()).isEqualTo(exit);
      return job.said();
    }
  }
}
