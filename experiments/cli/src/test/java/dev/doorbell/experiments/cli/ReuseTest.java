package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.run.FakeRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A changed sweep runs only what is new: {@code run --reuse}. */
class ReuseTest {
  private static final String HOME = "doorbell.home";

  @TempDir private Path folder;
  private final Session session = new Session();
  private final List<String> ran = new ArrayList<>();
  private final String before = System.getProperty(HOME, "");
  private String config = "";

  @BeforeEach
  void a_run_of_code_that_has_a_commit() throws IOException {
    System.setProperty(HOME, folder.toString());
    codeIs("0123abcd");
    config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL).toString();
    PointRunner once = (point, _) -> FakeRuntime.result(point);
    session.runtime.runner =
        (point, context) -> {
          synchronized (ran) {
            ran.add(point.id());
          }
          return once.run(point, context);
        };
    run("runs");
    assertThat(ran).hasSize(5);
    ran.clear();
  }

  @AfterEach
  void forget() {
    if (before.isEmpty()) {
      System.clearProperty(HOME);
    } else {
      System.setProperty(HOME, before);
    }
  }

  private void codeIs(String commit) throws IOException {
    Files.writeString(folder.resolve("commit"), commit);
  }

  private Path run(String runs, String... options) throws IOException {
    List<Path> others = in(runs);
    List<String> words = new ArrayList<>(List.of("run", config, "-j", "1"));
    words.addAll(List.of("--out", folder.resolve(runs).toString()));
    words.addAll(List.of(options));
    assertThat(session.type(words.toArray(String[]::new))).as(session.err()).isEqualTo(ExitCode.OK);
    return in(runs).stream().filter(run -> !others.contains(run)).findFirst().orElseThrow();
  }

  private List<Path> in(String runs) throws IOException {
    if (!Files.isDirectory(folder.resolve(runs))) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder.resolve(runs))) {
      return all.toList();
    }
  }

  @Test
  void only_what_is_new_is_run_and_the_bytes_are_those_of_a_fresh_run() throws IOException {
    Path reused = run("runs", "--reuse", "-s", "size=64,1K,4K");
    assertThat(ran).containsExactlyInAnyOrder("pull_1024", "push.memic_1024");
    assertThat(session.out()).contains("reuse    5 of 7 points are those of " + folder);
    ran.clear();
    Path fresh = run("fresh", "-s", "size=64,1K,4K");
    assertThat(ran).hasSize(7);
    Map<String, String> bytes = FailingDiskTest.files(reused);
    assertThat(bytes).isEqualTo(FailingDiskTest.files(fresh)).containsKey("samples/pull_1024.csv");
    assertThat(session.type("verify", reused.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("7 of 7");
  }

  @Test
  void what_decides_the_samples_is_the_same() throws IOException {
    for (String change : List.of("samples=6", "seed=2", "repeat=2", "window=2", "warmup=9")) {
      run("runs", "--reuse", "-s", change);
      assertThat(Set.copyOf(ran)).as(change).hasSize(5);
      assertThat(session.out()).as(change).contains("reuse    0 of 5 points");
      ran.clear();
    }
    run("runs", "--reuse", "-s", "timeout=9s");
    assertThat(ran).isEmpty();
  }

  @Test
  void code_of_another_commit_or_of_none_runs_all() throws IOException {
    for (String commit : List.of("4567cdef", "0123abcd-dirty")) {
      codeIs(commit);
      run("runs", "--reuse");
      assertThat(ran).as(commit).hasSize(5);
      ran.clear();
    }
    run("runs", "--reuse"); // nor has that run been of a known one
    assertThat(ran).hasSize(5);
  }

  @Test
  void damaged_points_and_broken_seals_are_not_taken() throws IOException {
    Path run = in("runs").getFirst();
    Files.writeString(run.resolve("samples/pull_64.csv"), "latency [ns]\n1\n");
    run("runs", "--reuse");
    assertThat(ran).containsExactly("pull_64");
    ran.clear();
    for (Path each : in("runs")) {
      Files.writeString(
          each.resolve("manifest.json"),
          Files.readString(each.resolve("manifest.json"))
              .replace("\"tags\" : [ ]", "\"tags\": []"));
    }
    run("runs", "--reuse");
    assertThat(ran).hasSize(5);
  }
}
