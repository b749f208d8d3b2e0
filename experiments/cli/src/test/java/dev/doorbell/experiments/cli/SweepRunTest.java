package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.FakeRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Parts, repetitions, retries, orders and names of runs. */
class SweepRunTest {
  @TempDir private Path folder;
  private final Session session = new Session();
  private final List<String> begun = Collections.synchronizedList(new ArrayList<>());
  private String config = "";
  private Path runs = Path.of("");

  @BeforeEach
  void writeConfig() throws IOException {
    config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL).toString();
    runs = folder.resolve("runs");
    session.runtime.runner =
        (point, _) -> {
          begun.add(point.id());
          return FakeRuntime.result(point);
        };
  }

  @Test
  void a_shuffled_order_is_recorded_and_changes_no_result() throws IOException {
    run("--shuffle", "-j", "1", "-s", "size=pow2(8,1K)");
    Path shuffled = onlyRun();
    List<String> order = List.copyOf(begun);
    begun.clear();
    runs = folder.resolve("plain");
    run("-j", "1", "-s", "size=pow2(8,1K)");
    assertThat(order).hasSameElementsAs(begun).isNotEqualTo(begun);
    JsonNode schedule =
        JsonMapper.shared().readTree(shuffled.resolve("manifest.json")).get("schedule");
    List<String> recorded = new ArrayList<>();
    schedule.get("order").forEach(place -> recorded.add(begun.get(place.asInt())));
    assertThat(recorded).isEqualTo(order);
    assertThat(schedule.get("shuffled").asBoolean()).isTrue();
    assertThat(shuffled.resolve("summary.csv"))
        .hasSameTextualContentAs(onlyRun().resolve("summary.csv"));
  }

  @Test
  void repeated_points_start_anew_each_time_and_put_their_samples_together() throws IOException {
    Map<String, List<Long>> seeds = new HashMap<>();
    session.runtime.runner =
        (point, _) -> {
          synchronized (seeds) {
            seeds.computeIfAbsent(point.id(), _ -> new ArrayList<>()).add(point.seed());
          }
          return FakeRuntime.result(point);
        };
    run("--repeat", "4");
    assertThat(seeds.values())
        .hasSize(5)
        .allSatisfy(each -> assertThat(each).hasSize(4).doesNotHaveDuplicates());
    List<String> lines = Files.readAllLines(onlyRun().resolve("samples/pull_64.csv"));
    assertThat(lines).hasSize(1 + 4 * 5);
    runs = folder.resolve("once");
    run();
    assertThat(lines).startsWith(lines(onlyRun().resolve("samples/pull_64.csv")));
  }

  private static String[] lines(Path file) throws IOException {
    return Files.readAllLines(file).toArray(String[]::new);
  }

  @Test
  void points_repeat_until_their_median_is_known_well_enough() throws IOException {
    session.runtime.runner = (point, _) -> noisy(point);
    assertThat(run("--until", "ci95(latency.p50)<2%")).isEqualTo(ExitCode.OK);
    JsonNode summary = JsonMapper.shared().readTree(onlyRun().resolve("summary.json"));
    for (JsonNode point : summary.get("points")) {
      JsonNode latency = point.at("/metrics/latency");
      double half = (latency.at("/ci95/1").asDouble() - latency.at("/ci95/0").asDouble()) / 2;
      assertThat(half / latency.get("p50").asDouble()).isLessThan(0.02);
      assertThat(latency.get("n").asInt()).isGreaterThan(5);
    }
    String first = Files.readString(onlyRun().resolve("summary.json"));
    runs = folder.resolve("again");
    run("--until", "ci95(latency.p50)<2%", "-j", "3");
    assertThat(onlyRun().resolve("summary.json")).hasContent(first);
  }

  @Test
  void a_bound_that_cannot_be_reached_ends_and_says_so() {
    session.runtime.runner = (point, _) -> noisy(point);
    run("--until", "ci95(latency.p50)<0.001%", "--only", "path=pull,size=64");
    assertThat(session.out()).contains("note  pull_64  'ci95(latency.p50)<0.001%' was not reached");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"soon", "ci95(latency.p99)<2%", "ci95(latency.p50)<0%", "ci95(fences.p50)<2%"})
  void a_condition_that_is_none_is_refused(String condition) {
    assertThat(run("--until", condition)).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).containsAnyOf("DB-C042", "DB-C033");
  }

  private static PointResult noisy(Point point) {
    Random random = new Random(point.seed());
    double[] latency = random.doubles(point.samples()).map(v -> 1000 - 80 * Math.log(v)).toArray();
    PointResult plain = FakeRuntime.result(point);
    return new PointResult(
        plain.basis(),
        List.of(Samples.of("latency", "ns", latency)),
        plain.counters(),
        plain.verifiedBytes(),
        List.of());
  }

  @Test
  void a_point_that_fails_is_tried_again_and_the_table_says_so() throws IOException {
    Map<String, Integer> tries = new HashMap<>();
    session.runtime.runner =
        (point, _) -> {
          int nth;
          synchronized (tries) {
            nth = tries.merge(point.id(), 1, Integer::sum);
          }
          if (point.id().equals("pull_64") && nth < 3) {
            throw new PointFailure(
                PointFailure.Kind.FAILED, Problem.of("DB-P002", point.id(), "nothing came"));
          }
          return FakeRuntime.result(point);
        };
    assertThat(run("--retries", "1")).isEqualTo(ExitCode.FAILED);
    tries.clear();
    runs = folder.resolve("patient");
    assertThat(run("--retries", "2")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("retried  pull_64 (attempt 3)", "5 of 5 points verified");
    assertThat(Files.readAllLines(onlyRun().resolve("journal.jsonl"))).hasSize(7);
  }

  @Test
  void a_point_whose_bytes_are_wrong_is_not_tried_again() {
    session.runtime.runner =
        (point, _) -> {
          begun.add(point.id());
          throw new PointFailure(
              PointFailure.Kind.MISMATCH, Problem.of("DB-P002", point.id(), "byte 7 is wrong"));
        };
    assertThat(run("--retries", "3")).isEqualTo(ExitCode.FAILED);
    assertThat(begun).hasSize(5);
  }

  @Test
  void a_tag_means_the_newest_run_that_has_it() throws IOException {
    run("--tag", "main");
    run("--tag", "main", "--seed", "43");
    session.type("table", "main", "--runs", runs.toString(), "--json");
    assertThat(JsonMapper.shared().readTree(session.out()).get("seed").asInt()).isEqualTo(43);
    assertThat(run("--tag", "a/b")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_run_killed_before_its_first_point_leaves_no_run() throws IOException {
    session.runtime.check = _ -> List.of(Problem.of("DB-C050", null, "impossible"));
    run();
    assertThat(runs).doesNotExist();
  }

  @Test
  void timings_say_how_much_of_the_time_was_simulated() {
    run("--timings");
    assertThat(session.out())
        .containsPattern(
            "time     \\d+\\.\\d\\d s \\(start .*; preparation .*; points .*\\); simulating");
    session.type("run", config, "--out", folder.resolve("brief").toString());
    assertThat(session.out())
        .containsPattern(
            "time     \\d+\\.\\d s: start .*, preparation .*, points .*, results .*; .* % not in"
                + " points");
    run("--timings", "--json", "--seed", "9");
    assertThat(JsonMapper.shared().readTree(session.out()).at("/seconds/outside_share").asDouble())
        .isBetween(0.0, 1.0);
  }

  private ExitCode run(String... more) {
    return session.type(
        Stream.concat(Stream.of("run", config, "--out", runs.toString()), Stream.of(more))
            .toArray(String[]::new));
  }

  private Path onlyRun() {
    java.io.File[] files = runs.toFile().listFiles();
    assertThat(files).hasSize(1);
    return files[0].toPath();
  }
}
