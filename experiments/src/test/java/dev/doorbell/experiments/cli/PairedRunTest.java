package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An experiment whose ranks are two processes. */
class PairedRunTest {
  private static final long POLL_MILLIS = 20;

  @TempDir private Path folder;

  /** The second process loses packets, and the first one judges the run. */
  @Test
  void a_quiet_pair_ends_well_when_a_fault_that_must_fire_fires_in_the_other_process()
      throws Exception {
    Path faults =
        Files.writeString(
            folder.resolve("faults.yaml"),
            """
            faults:
              - { do: lose, at: packet 3, target: rank1, must_fire: true }
            """);
    List<String> command =
        new ArrayList<>(TestProgram.java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add(Main.class.getName());
    command.addAll(List.of("run", "pull-vs-push", "--pair", "-q", "--faults", faults.toString()));
    command.addAll(List.of("-s", "size=64", "-s", "placement=same-switch", "-s", "path=pull"));
    command.addAll(List.of("-s", "samples=20", "--out", folder.resolve("runs").toString()));
    try (TestProgram program = TestProgram.start(folder, command)) {
      assertThat(program.succeed()).contains(folder.resolve("runs").toString());
    }
  }

  /** Without anybody to say so, the first process waits three minutes for the second one. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_killed_process_ends_the_run_of_the_other_one(boolean met) throws Exception {
    List<String> command =
        new ArrayList<>(TestProgram.java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add(Main.class.getName());
    command.addAll(List.of("run", "pull-vs-push", "--pair", "-s", "timeout=30min"));
    command.addAll(
        List.of("-s", "size=pow2(8,1M)", "-s", "placement=same-switch", "-s", "path=pull"));
    command.addAll(List.of("-s", "samples=2000", "--out", folder.resolve("runs").toString()));
    try (TestProgram program = TestProgram.start(folder, command)) {
      Optional<ProcessHandle> other = Optional.empty();
      while (program.isAlive() && (other.isEmpty() || (met && !hasRecordedAPoint()))) {
        other = program.process().children().filter(PairedRunTest::isSecond).findFirst();
        program.process().waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
      }
      assertThat(other).as("%s", program.said()).isPresent();
      other.get().destroyForcibly();
      assertThat(program.await()).as("%s", program.said()).isEqualTo(ExitCode.FAILED.status());
      assertThat(program.said()).contains("the other process ended with status 137");
      assertThat(program.said()).doesNotContain("did not come within", "timed out.");
    }
  }

  /** By Linux's own file: {@link ProcessHandle.Info} leaves arguments out beyond 4096 bytes. */
  private static boolean isSecond(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/%d/cmdline".formatted(process.pid())))
          .contains("--rank=1");
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  private boolean hasRecordedAPoint() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.endsWith("journal.jsonl")).toList()) {
        if (Files.size(file) > 0) {
          return true;
        }
      }
    }
    return false;
  }
}
