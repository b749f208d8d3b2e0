package dev.doorbell.experiments.cli;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.FailingDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that fails now and then costs a refusal with its reason, and no number. */
class FailingDiskTest {
  private static final int ONE_OF = 50;

  @TempDir private Path folder;
  private final Session session = new Session();
  private String config = "";
  private Map<String, String> whole = Map.of();

  @BeforeEach
  void a_run_on_a_good_disk() throws IOException {
    config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL).toString();
    Path runs = folder.resolve("good");
    assertThat(session.type("run", config, "-q", "-j", "1", "--out", runs.toString()))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
    whole = files(made(runs).getFirst());
  }

  private static List<Path> made(Path runs) throws IOException {
    if (!Files.exists(runs)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(runs)) {
      return all.toList();
    }
  }

  /** Returns what a run says: all of its files but those of times and of its history. */
  static Map<String, String> files(Path run) throws IOException {
    try (Stream<Path> all = Files.walk(run)) {
      return all.filter(Files::isRegularFile)
          .filter(
              file ->
                  !List.of("journal.jsonl", "manifest.json", "seal.json", "log.txt")
                      .contains(String.valueOf(file.getFileName())))
          .collect(toMap(file -> run.relativize(file).toString(), FailingDiskTest::text));
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code -Ddoorbell.seeds=500} takes so many. */
  @Test
  void a_run_and_its_resume_end_with_the_same_bytes_or_a_refusal() throws IOException {
    int seeds = Integer.getInteger("doorbell.seeds", 12);
    assertThat(failed(seeds)).isGreaterThan(seeds / 3);
  }

  /** Returns how many runs met a failure. */
  private int failed(int seeds) throws IOException {
    int struck = 0;
    for (int seed = 0; seed < seeds; seed++) {
      Path runs = folder.resolve("runs" + seed);
      FailingDisk failing = new FailingDisk(seed, ONE_OF);
      session.disk = failing;
      said(seed, failing, session.type("run", config, "-q", "-j", "1", "--out", runs.toString()));
      struck += failing.failures() > 0 ? 1 : 0;
      List<Path> made = new ArrayList<>(made(runs));
      assertThat(made).as("seed %d", seed).hasSizeLessThan(2);
      if (made.isEmpty()) {
        continue; // refused, with nothing left behind
      }
      String run = made.getFirst().toString();
      said(seed, failing, session.type("run", "--resume", run, "-q"));
      session.disk = new Disk();
      assertThat(session.type("run", "--resume", run, "-q"))
          .as("seed %d: %s", seed, session.err())
          .isEqualTo(ExitCode.OK);
      assertThat(files(made.getFirst())).as("seed %d", seed).isEqualTo(whole);
      assertThat(session.type("verify", run))
          .as("seed %d: %s%s", seed, session.out(), session.err())
          .isEqualTo(ExitCode.OK);
    }
    return struck;
  }

  private void said(int seed, FailingDisk disk, ExitCode code) {
    assertThat(session.err()).as("seed %d", seed).doesNotContain("DB-X0");
    if (code != ExitCode.OK) {
      assertThat(disk.failures()).as("seed %d: %s", seed, session.err()).isPositive();
      assertThat(session.out() + session.err())
          .as("seed %d", seed)
          .contains("Input/output error", "fix ");
    }
  }
}
