package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs of the real thing, killed with SIGKILL at random moments and gone on with. A moment is so
 * many bytes that a run has written, and a little later: how fast the machine is does not matter.
 * {@code -Ddoorbell.kills=50} for as many as a release wants, {@code -Ddoorbell.seed=} for others.
 */
@Tag("slow")
class KilledRunTest {
  private static final int KILLS = Integer.getInteger("doorbell.kills", 6);
  private static final long SEED = Long.getLong("doorbell.seed", 20260101);
  private static final long LITTLE_NANOS = 20_000_000;
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
    try (TestProgram undisturbed = run(whole)) {
      undisturbed.succeed();
    }
    long bytes = written(whole);
    Path reference = only(whole);
    Random random = new Random(SEED);
    int resumed = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Path runs = folder.resolve("killed" + kill);
      long enough = (long) (random.nextDouble() * bytes);
      long later = random.nextLong(LITTLE_NANOS);
      try (TestProgram doomed = run(runs)) {
        while (doomed.isAlive() && written(runs) < enough) {
          Thread.sleep(1);
        }
        LockSupport.parkNanos(later);
        doomed.kill();
      }
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

  private TestProgram run(Path runs) throws IOException {
    List<String> command =
        new ArrayList<>(TestProgram.java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of(Main.class.getName(), "run"));
    command.addAll(List.of(SWEEP));
    command.addAll(List.of("--quiet", "--out", runs.toString()));
    return TestProgram.start(folder, command);
  }

  /** Bytes in files below a folder that is being written to. */
  private static long written(Path runs) throws IOException {
    long[] bytes = {0};
    if (Files.exists(runs)) {
      Files.walkFileTree(
          runs,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              bytes[0] += attributes.size();
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
              return FileVisitResult.CONTINUE; // It has its final name by now.
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException gone) {
              return FileVisitResult.CONTINUE; // As above.
            }
          });
    }
    return bytes[0];
  }

  private static ExitCode resume(Path run) {
    return new RealSession().type("run", "--quiet", "--resume", run.toString());
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
