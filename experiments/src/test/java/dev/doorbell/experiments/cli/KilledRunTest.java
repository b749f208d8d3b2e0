package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import dev.doorbell.experiments.cli.command.Context;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs of the real thing, killed with SIGKILL at random moments and gone on with. {@code
 * -Ddoorbell.kills=50} for as many as a release wants.
 */
@Tag("slow")
class KilledRunTest {
  private static final int KILLS = Integer.getInteger("doorbell.kills", 6);
  private static final long SEED = Long.getLong("doorbell.seed", 20260101);
  private static final String[] SWEEP = {
    "pull-vs-push",
    "-s",
    "size=pow2(8,2K)",
    "-s",
    "path=pull,push.memic,proxy",
    "-s",
    "placement=same-switch,cross-rc"
  };

  @TempDir private Path folder;

  @Test
  void a_run_killed_at_any_moment_ends_as_if_nothing_had_happened() throws Exception {
    Path whole = folder.resolve("whole");
    long start = System.nanoTime();
    Process undisturbed = run(whole);
    assertThat(undisturbed.waitFor()).isZero();
    long nanos = System.nanoTime() - start;
    Path reference = only(whole);
    Random random = new Random(SEED);
    int resumed = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Path runs = folder.resolve("killed" + kill);
      // The first quarter is mostly the start of a JVM.
      long delay = nanos / 4 + (long) (random.nextDouble() * nanos * 0.75);
      Process process = run(runs);
      process.waitFor(delay, TimeUnit.NANOSECONDS);
      process.destroyForcibly().waitFor();
      List<Path> left = shown(runs);
      assertThat(left).as("seed %d kill %d", SEED, kill).hasSizeLessThan(2);
      if (left.isEmpty()) {
        continue; // Before the run began: there is nothing that could be half done.
      }
      assertThat(resume(left.getFirst())).as("seed %d kill %d", SEED, kill).isEqualTo(ExitCode.OK);
      for (String file : List.of("summary.csv", "summary.json")) {
        assertThat(left.getFirst().resolve(file))
            .as("seed %d kill %d", SEED, kill)
            .hasSameBinaryContentAs(reference.resolve(file));
      }
      resumed++;
    }
    assertThat(resumed).as("runs that were caught in the middle").isPositive();
  }

  private Process run(Path runs) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "run"));
    command.addAll(List.of(SWEEP));
    command.addAll(List.of("--quiet", "--out", runs.toString()));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("output.txt").toFile())
        .start();
  }

  private static ExitCode resume(Path run) {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(output, true, StandardCharsets.UTF_8);
    ExperimentRuntime runtime =
        ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow();
    String[] arguments = {"run", "--quiet", "--resume", run.toString()};
    Context context =
        new Context(
            new Terminal(print, print, false),
            () -> runtime,
            new Disk(),
            Clock.systemUTC(),
            new Interruption(),
            List.of(arguments));
    return new Tool(context).run(arguments);
  }

  private static Path only(Path runs) throws IOException {
    List<Path> shown = shown(runs);
    assertThat(shown).hasSize(1);
    return shown.getFirst();
  }

  private static List<Path> shown(Path runs) throws IOException {
    if (!Files.exists(runs)) {
      return List.of();
    }
    try (Stream<Path> paths = Files.list(runs)) {
      return paths.filter(path -> !String.valueOf(path.getFileName()).startsWith(".")).toList();
    }
  }
}
