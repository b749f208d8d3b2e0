package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.run.FakeRuntime;
import dev.doorbell.experiments.run.FullDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class RunCommandTest {
  @TempDir private Path folder;
  private final Session session = new Session();
  private String config = "";
  private Path runs = Path.of("");

  @BeforeEach
  void writeConfig() throws IOException {
    config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL).toString();
    runs = folder.resolve("runs");
  }

  @Test
  void a_run_says_what_it_uses_and_ends_with_table_and_basis() {
    assertThat(run()).isEqualTo(ExitCode.OK);
    List<String> lines = session.out().lines().toList();
    assertThat(lines.getFirst())
        .isEqualTo(
            "gpu ptx-vm (no CUDA driver)   hca soft-hca (no mlx5 device)   clock virtual (the"
                + " config asks for it)   basis modelled");
    assertThat(lines.get(1)).startsWith("small   seed 42   points 5   est. 00:03   config ");
    assertThat(lines.get(3)).startsWith("path          size  latency p50 us  n");
    assertThat(lines.get(4)).startsWith("pull          64 B            2.0");
    assertThat(session.out())
        .contains(
            "5 of 5 points verified (41,920 bytes compared); 0 failed; 0 waived.",
            "MODELLED RESULT (virtual time) - not a hardware measurement");
  }

  @Test
  void everything_that_a_reader_needs_is_in_the_run_directory() throws IOException {
    run();
    assertThat(files(onlyRun()).keySet())
        .contains(
            "config.yaml",
            "resolved.yaml",
            "manifest.json",
            "journal.jsonl",
            "seal.json",
            "log.txt",
            "summary.csv",
            "summary.json",
            "samples/pull_64.csv",
            "figures/latency.svg")
        .noneMatch(name -> name.endsWith(".part"));
    assertThat(onlyRun().resolve("config.yaml")).hasContent(Configs.SMALL);
    JsonNode manifest = JsonMapper.shared().readTree(onlyRun().resolve("manifest.json"));
    assertThat(manifest.at("/state").asString()).isEqualTo("COMPLETE");
    assertThat(manifest.at("/recorded").intValue()).isEqualTo(5);
    assertThat(manifest.at("/constants/0/origin").asString()).isEqualTo("ASSUMED");
    assertThat(manifest.at("/environment/gpu/reason").asString()).isEqualTo("no CUDA driver");
    assertThat(manifest.at("/doctor")).isEmpty();
    JsonNode summary = JsonMapper.shared().readTree(onlyRun().resolve("summary.json"));
    assertThat(summary.at("/basis").asString()).isEqualTo("modelled");
    assertThat(summary.at("/crossovers")).hasSize(1);
  }

  @Test
  void a_timeline_that_the_config_asks_for_is_drawn() throws IOException {
    session.runtime.timeline =
        new Timeline(
            "one message",
            List.of(
                new Step(0, 20, "rank0.gpu0", "rank0.gpu0", Kind.WQE_STORE, 48, "WQE"),
                new Step(20, 700, "rank0.gpu0", "rank0.nic0", Kind.WRITE_TLP, 8, "MWr")));
    Files.writeString(
        Path.of(config),
        Configs.SMALL.replace(
            "  crossovers:",
            "    - { name: message, kind: timeline, only: path=pull }\n  crossovers:"));

    assertThat(run()).isEqualTo(ExitCode.OK);

    assertThat(session.out()).containsPattern("figures  latency.svg .*message.svg\n");
    assertThat(files(onlyRun()).keySet()).contains("figures/message.svg");
    Path again = folder.resolve("again");
    assertThat(session.type("plot", onlyRun().toString(), "--as", "svg", "--out", again.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(again.resolve("message.svg"))
        .hasSameBinaryContentAs(onlyRun().resolve("figures/message.svg"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Basis.class,
      names = {"MEASURED", "EMULATED"})
  void a_model_has_no_word_beside_numbers_that_are_not_its_own(Basis basis) throws IOException {
    session.runtime.basis = basis;
    assertThat(run()).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("basis " + basis.word(), "path          size  latency p50 us  n")
        .doesNotContain("vs. form");
    JsonNode manifest = JsonMapper.shared().readTree(onlyRun().resolve("manifest.json"));
    assertThat(manifest.at("/constants").isArray()).isTrue();
    assertThat(manifest.at("/constants")).isEmpty();
    assertThat(onlyRun().resolve("journal.jsonl"))
        .content()
        .contains("\"prediction\":[]")
        .doesNotContain("T = a + N/B");
    assertThat(onlyRun().resolve("summary.csv")).content().doesNotContain("T = a + N/B");
  }

  @Test
  void the_same_seed_gives_the_same_bytes_whatever_the_threads_do() throws IOException {
    Map<String, String> first = null;
    for (int attempt = 0; attempt < 4; attempt++) {
      Random pauses = new Random(attempt);
      session.runtime.runner =
          (point, _) -> {
            pause(pauses.nextInt(8));
            return FakeRuntime.result(point);
          };
      runs = folder.resolve("runs" + attempt);
      assertThat(run("-j", Integer.toString(attempt + 1), "-s", "size=pow2(8,2K)"))
          .isEqualTo(ExitCode.OK);
      Map<String, String> files = files(onlyRun());
      files.keySet().removeAll(List.of("manifest.json", "journal.jsonl", "seal.json", "log.txt"));
      first = first == null ? files : first;
      assertThat(files).isEqualTo(first).containsKeys("summary.csv", "figures/latency.svg");
    }
  }

  @Test
  void another_seed_gives_other_samples() throws IOException {
    run();
    String before = Files.readString(onlyRun().resolve("summary.csv"));
    runs = folder.resolve("other");
    run("--seed", "43");
    assertThat(Files.readString(onlyRun().resolve("summary.csv"))).isNotEqualTo(before);
  }

  @Test
  void a_dry_run_writes_nothing() {
    assertThat(run("--dry-run")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("points 5");
    assertThat(runs).doesNotExist();
  }

  @Test
  void only_a_part_of_the_plan_runs_when_asked() {
    assertThat(run("--only", "size<=64,path=pull|push.memic")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("2 of 5 points verified", "3 not run");
  }

  @ParameterizedTest
  @CsvSource({"FAILED,FAILED", "MISMATCH,FAILED", "TIMEOUT,PARTIAL", "WAIVED,OK"})
  void a_point_without_a_result_decides_the_exit_code(PointFailure.Kind kind, ExitCode expected) {
    session.runtime.runner =
        (point, _) -> {
          if (point.id().equals("pull_64")) {
            throw new PointFailure(kind, Problem.of("DB-P002", point.id(), "nothing came"));
          }
          return FakeRuntime.result(point);
        };
    assertThat(run()).isEqualTo(expected);
    assertThat(session.out()).contains("4 of 5 points verified", "pull_64  DB-P002  nothing came");
  }

  @Test
  void a_run_in_which_everything_is_waived_is_exit_77() {
    session.runtime.runner =
        (point, _) -> {
          throw new PointFailure(
              PointFailure.Kind.WAIVED, Problem.of("DB-P004", point.id(), "no on-chip memory"));
        };
    assertThat(run()).isEqualTo(ExitCode.WAIVED);
  }

  @Test
  void ctrl_c_leaves_a_run_that_can_be_read_and_resumed() throws IOException {
    session.runtime.runner =
        (point, _) -> {
          if (point.index() == 2) {
            session.interruption.request();
          }
          return FakeRuntime.result(point);
        };
    assertThat(run("-j", "1")).isEqualTo(ExitCode.INTERRUPTED);
    assertThat(session.out()).contains("3 of 5 points verified", "2 not run.", "run --resume");
    assertThat(Files.readAllLines(onlyRun().resolve("summary.csv"))).hasSize(4);
    assertThat(Files.readString(onlyRun().resolve("manifest.json"))).contains("INTERRUPTED");

    Session later = new Session();
    assertThat(later.type("table", onlyRun().toString())).isEqualTo(ExitCode.OK);
    assertThat(later.type("run", "--resume", onlyRun().toString())).isEqualTo(ExitCode.OK);
    assertThat(later.out()).contains("points 2", "5 of 5 points verified");

    Map<String, String> resumed = files(onlyRun());
    runs = folder.resolve("undisturbed");
    Session undisturbed = new Session();
    undisturbed.type("run", config, "--out", runs.toString());
    Map<String, String> whole = files(onlyRun());
    assertThat(resumed.get("summary.csv")).isEqualTo(whole.get("summary.csv"));
    assertThat(resumed.get("figures/latency.svg")).isEqualTo(whole.get("figures/latency.svg"));
  }

  @Test
  void resuming_a_finished_run_repeats_nothing() {
    run();
    session.runtime.runner =
        (point, _) -> {
          throw new AssertionError("ran again: " + point.id());
        };
    assertThat(session.type("run", "--resume", onlyRun().toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("points 0", "5 of 5 points verified");
  }

  @Test
  void table_and_plot_need_the_samples_alone() throws IOException {
    run();
    String table = session.out();
    Path run = onlyRun();
    Map<String, String> before = files(run);
    for (String made : List.of("summary.csv", "summary.json", "log.txt", "config.yaml")) {
      Files.delete(run.resolve(made));
    }
    session.type("table", run.toString());
    assertThat(table).contains(session.out());
    Path figures = folder.resolve("figures");
    assertThat(session.type("plot", run.toString(), "--out", figures.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(files(figures)).containsKeys("latency.svg", "latency.pdf");
    files(figures).entrySet().stream()
        .filter(file -> file.getKey().endsWith(".svg"))
        .forEach(
            file -> assertThat(file.getValue()).isEqualTo(before.get("figures/" + file.getKey())));
    session.type("table", run.toString(), "--fmt", "csv");
    assertThat(session.out()).isEqualTo(before.get("summary.csv"));
    session.type("table", run.toString(), "--json");
    assertThat(session.out()).isEqualTo(before.get("summary.json"));
    session.type("table", run.toString(), "--fmt", "latex");
    assertThat(session.out()).contains("\\toprule");
  }

  @Test
  void samples_that_were_changed_are_not_shown() throws IOException {
    run();
    Path samples = onlyRun().resolve("samples").resolve("pull_64.csv");
    Files.writeString(samples, Files.readString(samples).replaceFirst("2", "1"));
    assertThat(session.type("table", onlyRun().toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-R003  these samples are not the ones");
  }

  @Test
  void an_out_folder_that_cannot_be_made_is_exit_4_and_leaves_nothing() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "not a folder");
    runs = file.resolve("runs");
    assertThat(run()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(session.err()).contains("DB-R001", "--out DIR").doesNotContain("\tat ");
  }

  @Test
  void a_full_disk_is_exit_4_at_every_size_and_what_is_there_can_be_resumed() throws IOException {
    for (long room = 0; room < 30_000; room += 2900) {
      runs = folder.resolve("room" + room);
      session.disk = new FullDisk(room);
      ExitCode code = run();
      assertThat(code).as("room %d", room).isIn(ExitCode.ENVIRONMENT, ExitCode.OK);
      assertThat(session.err()).doesNotContain("\tat ");
      try (Stream<Path> left = Files.walk(runs)) {
        assertThat(left).noneMatch(path -> path.toString().endsWith(".part"));
      }
      session.disk = new FullDisk(Long.MAX_VALUE);
      if (code == ExitCode.ENVIRONMENT
          && hasRun()
          && Files.exists(onlyRun().resolve("manifest.json"))) {
        assertThat(session.type("run", "--resume", onlyRun().toString()))
            .as("room %d: %s", room, session.err())
            .isEqualTo(ExitCode.OK);
      }
    }
  }

  @Test
  void json_is_one_document_and_nothing_else() {
    assertThat(run("--json")).isEqualTo(ExitCode.OK);
    JsonNode report = JsonMapper.shared().readTree(session.out());
    assertThat(report.at("/exit").intValue()).isZero();
    assertThat(report.at("/summary/points")).hasSize(5);
    assertThat(report.at("/environment/basis").asString()).isEqualTo("MODELLED");
    assertThat(session.err()).isEmpty();
  }

  @Test
  void quiet_prints_the_run_directory_alone() {
    run("--quiet");
    assertThat(session.out()).isEqualTo(onlyRun() + "\n");
    assertThat(session.err()).isEmpty();
  }

  @Test
  void progress_off_a_terminal_is_a_line_every_tenth() {
    run("-s", "size=pow2(8,1M)", "--only", "path=pull|push.memic");
    List<String> lines = session.err().lines().toList();
    assertThat(lines)
        .hasSize(10)
        .allMatch(line -> line.matches("\\d+/36 points  ETA \\d\\d:\\d\\d"));
    assertThat(lines.getLast()).startsWith("36/36");
  }

  private ExitCode run(String... more) {
    return session.type(
        Stream.concat(Stream.of("run", config, "--out", runs.toString()), Stream.of(more))
            .toArray(String[]::new));
  }

  private boolean hasRun() {
    java.io.File[] files = runs.toFile().listFiles();
    return files != null && files.length == 1;
  }

  private Path onlyRun() {
    java.io.File[] files = runs.toFile().listFiles();
    assertThat(files).hasSize(1);
    return files[0].toPath();
  }

  private static Map<String, String> files(Path directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(
            directory.relativize(file).toString(),
            new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.ISO_8859_1));
      }
    }
    return contents;
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
