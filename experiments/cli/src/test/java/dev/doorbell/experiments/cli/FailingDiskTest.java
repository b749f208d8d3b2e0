package dev.doorbell.experiments.cli;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.FailingDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
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
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code -Ddoorbell.seeds=500} takes so many. */
  @Test
  void a_run_and_its_resume_end_with_the_same_bytes_or_a_refusal() throws IOException {
    int seeds = Integer.getInteger("doorbell.seeds", 12);
    int failed = failed(seeds);
    System.out.printf("%d of %d runs met a failure%n", failed, seeds);
    assertThat(failed).isGreaterThan(seeds / 3);
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

  /** What is made from a run is there whole, or as it was before. */
  @Test
  void what_is_made_of_a_run_is_whole_or_refused() throws IOException {
    String run = made(folder.resolve("good")).getFirst().toString();
    List<List<String>> commands =
        List.of(List.of("table", run, "--format", "csv", "-o"), List.of("plot", run, "--out"));
    for (List<String> command : commands) {
      int seeds = Integer.getInteger("doorbell.seeds", 12) / 2;
      int struck = 0;
      for (int seed = 0; seed < seeds; seed++) {
        FailingDisk failing = new FailingDisk(seed, ONE_OF / 8);
        session.disk = failing;
        Path target = folder.resolve(command.getFirst() + seed);
        List<String> words = new ArrayList<>(command);
        words.add(target.toString());
        ExitCode code = session.type(words.toArray(String[]::new));
        said(seed, failing, code);
        struck += failing.failures() > 0 ? 1 : 0;
        session.disk = new Disk();
        Path again = folder.resolve(command.getFirst() + "-again" + seed);
        words.set(words.size() - 1, again.toString());
        assertThat(session.type(words.toArray(String[]::new))).isEqualTo(ExitCode.OK);
        if (code == ExitCode.OK && Files.isRegularFile(target)) {
          assertThat(target).as("%s %d", command.getFirst(), seed).hasSameBinaryContentAs(again);
        } else if (code != ExitCode.OK) {
          assertThat(Files.isRegularFile(target)).as("%s %d", command.getFirst(), seed).isFalse();
        }
      }
      assertThat(struck).as(command.getFirst()).isPositive();
    }
  }

  /** Its runs, and what is made of them: as they were before, or new and whole. */
  @Test
  void a_paper_is_built_and_packed_whole_or_refused() throws IOException {
    Path paper = Files.createDirectory(folder.resolve("paper"));
    Files.copy(Path.of(config), paper.resolve("small.yaml"));
    Files.writeString(paper.resolve("paper.md"), "# A paper\n\nIt takes {{number lowest}}.\n");
    Files.writeString(
        paper.resolve("paper.yaml"),
        """
        paper: small
        text: [paper.md]
        runs: {main: {experiment: small.yaml}}
        figures: {by-size: {run: main, kind: line, y: latency, caption: Latency}}
        tables: {all: {run: main}}
        numbers:
          lowest: {value: "latency{size=64, path=pull}", run: main, unit: ns}
        """);
    assertThat(session.type("paper", "build", paper.toString()))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
    Map<String, String> built = files(paper.resolve("generated"));
    assertThat(built).hasSizeGreaterThan(3);
    int seeds = Integer.getInteger("doorbell.seeds", 12);
    int struck = 0;
    for (int seed = 0; seed < seeds; seed++) {
      if (seed % 2 == 0) {
        // Its run has to be made again, too.
        Files.writeString(paper.resolve("runs/main/manifest.json"), "{}");
      }
      FailingDisk failing = new FailingDisk(seed, seed % 2 == 0 ? ONE_OF : ONE_OF / 4);
      session.disk = failing;
      said(seed, failing, session.type("paper", "build", paper.toString()));
      assertThat(files(paper.resolve("generated"))).as("seed %d", seed).isEqualTo(built);
      struck += failing.failures() > 0 ? 1 : 0;
      session.disk = new Disk();
      // What a failed run has left would give the next one another name.
      for (Path left : made(paper.resolve("runs"))) {
        if (!left.endsWith("main")) {
          delete(left);
        }
      }
      assertThat(session.type("paper", "build", paper.toString()))
          .as("seed %d: %s", seed, session.err())
          .isEqualTo(ExitCode.OK);
      assertThat(files(paper.resolve("generated"))).as("seed %d", seed).isEqualTo(built);
    }
    assertThat(struck).isGreaterThan(seeds / 4);
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Memory that one point does not get fails that point, with a reason and a fix. */
  @Test
  void a_point_that_gets_no_memory_is_run_by_resume() throws IOException {
    PointRunner once = session.runtime.runner;
    int[] calls = {0};
    session.runtime.runner =
        (point, context) -> {
          if (++calls[0] == 3) {
            throw new OutOfMemoryError("Java heap space");
          }
          return once.run(point, context);
        };
    Path runs = folder.resolve("small");
    assertThat(session.type("run", config, "-q", "-j", "1", "--out", runs.toString()))
        .isEqualTo(ExitCode.FAILED);
    String run = made(runs).getFirst().toString();
    session.type("table", run);
    assertThat(session.out() + session.err())
        .contains("DB-E054", "DOORBELL_JAVA_OPTS=-Xmx")
        .doesNotContain("report it");
    assertThat(session.type("run", "--resume", run, "-q")).isEqualTo(ExitCode.OK);
    assertThat(files(made(runs).getFirst())).isEqualTo(whole);
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
