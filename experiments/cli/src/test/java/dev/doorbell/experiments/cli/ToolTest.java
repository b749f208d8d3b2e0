package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.Main;
import dev.doorbell.experiments.cli.command.CommandGroup;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Version;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToolTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  @ParameterizedTest
  @ValueSource(strings = {"", "--help", "-h", "help"})
  void the_first_screen_shows_what_to_type(String word) throws IOException {
    ExitCode code = word.isEmpty() ? session.type() : session.type(word);
    assertThat(code).isEqualTo(ExitCode.OK);
    assertThat(session.out()).isEqualTo(golden("help.txt"));
  }

  @ParameterizedTest
  @EnumSource(Subcommand.class)
  void every_command_explains_itself_with_examples_first(Subcommand command) {
    assertThat(session.type(command.word(), "--help")).isEqualTo(ExitCode.OK);
    List<String> lines = session.out().lines().toList();
    assertThat(lines.get(2)).startsWith("  doorbell " + command.word());
    assertThat(session.out()).contains("Usage: doorbell " + command.word());
    String explained = session.out();
    session.type("help", command.word());
    assertThat(session.out()).isEqualTo(explained);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "run --help",
        "plot --help",
        "exec --help",
        "list",
        "list axes",
        "list codes",
        "describe pull-vs-push",
        "describe latency",
        "describe DB-P001"
      })
  void what_explains_fits_a_terminal_of_80_columns(String words) {
    session.width = 80;
    assertThat(session.type(words.split(" "))).as(session.err()).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines().filter(line -> line.length() > 80)).isEmpty();
  }

  static Stream<Arguments> every_command_of_a_group_explains_itself_with_examples_first() {
    return Arrays.stream(Subcommand.values())
        .filter(group -> group.create() instanceof CommandGroup)
        .flatMap(
            group ->
                ((CommandGroup) group.create())
                    .actions().stream().map(action -> Arguments.of(group.word(), action.word())));
  }

  @ParameterizedTest
  @MethodSource
  void every_command_of_a_group_explains_itself_with_examples_first(String group, String action) {
    assertThat(session.type(group, action, "--help")).isEqualTo(ExitCode.OK);
    String name = "doorbell %s %s".formatted(group, action);
    assertThat(session.out().lines().toList().get(2)).startsWith("  " + name);
    assertThat(session.out()).contains("Usage: " + name);
  }

  @Test
  void the_help_of_run_reads_as_it_should() throws IOException {
    session.type("run", "--help");
    assertThat(session.out()).isEqualTo(golden("run-help.txt"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "rnu;DB-U001  unknown command 'rnu'  - did you mean 'run'?",
        "--verson;DB-U001  unknown option '--verson'",
        "run pull-vs-push --sed 1;DB-U002  unknown option '--sed'  - did you mean '--set',"
            + " '--seed'?",
        "run;DB-U003  give either an experiment or --resume RUN",
        "run a b;DB-U003  'b' is one argument too many",
        "run pull-vs-psh;DB-U004  unknown experiment 'pull-vs-psh'  - did you mean 'pull-vs-push'?",
        "run pull-vs-push --seed x;DB-U003  Invalid value for option '--seed': 'x' is not a long",
        "run pull-vs-push -j 0;--jobs  DB-U003  at least one point must run",
        "run --resume x -s size=8;DB-U003  --resume goes on with the run as it was",
        "show;DB-U003  missing EXPERIMENT",
        "validate;DB-U003  missing FILE",
        "list pahts;DB-U004  cannot list 'pahts'  - did you mean 'paths'?",
        "describe stagd;DB-U004  nothing is named 'stagd'  - did you mean 'staged'?",
        "table nowhere;nowhere  DB-R006  no run directory",
        "plot nowhere;nowhere  DB-R006  no run directory",
        "run --resume nowhere;nowhere  DB-R006  no run directory",
      })
  void a_command_line_that_makes_no_sense_is_exit_2(String line, String problem) {
    assertThat(session.type(line.split(" ", -1))).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).startsWith(problem).doesNotContain("\tat ");
    assertThat(session.out()).isEmpty();
  }

  @Test
  void validate_says_every_problem_of_every_file_and_exits_3() throws IOException {
    Path bad = Files.writeString(folder.resolve("bad.yaml"), golden("bad.yaml"));
    Path missing = folder.resolve("missing.yaml");
    assertThat(session.type("validate", bad.toString(), missing.toString(), "pull-vs-push"))
        .isEqualTo(ExitCode.CONFIG);
    assertThat(session.out().replace(folder + "/", "")).isEqualTo(golden("validate.txt"));
  }

  @Test
  void validate_of_a_sound_file_exits_0() {
    assertThat(session.type("validate", "pull-vs-push")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).isEqualTo("pull-vs-push  ok, 153 points\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"no.yaml", "no/such/file.yml", "/", "a\u0000b.yaml"})
  void a_config_file_that_cannot_be_read_is_exit_3(String file) {
    for (String command : List.of("run", "show", "predict", "validate")) {
      assertThat(session.type(command, file)).as(command).isEqualTo(ExitCode.CONFIG);
      assertThat(session.err() + session.out()).contains("DB-C001").doesNotContain("\tat ");
    }
  }

  @Test
  void a_file_that_is_no_text_is_exit_3() throws IOException {
    Path binary =
        Files.write(folder.resolve("binary.yaml"), new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
    assertThat(session.type("run", binary.toString())).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).contains("DB-C001  not a text in UTF-8");
  }

  @Test
  void what_the_runtime_calls_impossible_is_told_once_and_exits_3() {
    session.runtime.check =
        point -> List.of(Problem.of("DB-C050", point.id(), "this path needs P2P reads"));
    assertThat(session.type("run", "pull-vs-push", "--dry-run")).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err())
        .isEqualTo(
            """
            pull-vs-push.yaml:77:10  DB-C050  this path needs P2P reads (point pull_h200-cx7_8 and 152 more)
            1 error
            """);
  }

  @Test
  void a_plan_without_points_is_exit_3() {
    assertThat(session.type("run", "pull-vs-push", "--only", "size>1G")).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).contains("DB-C035  no point is left");
  }

  @Test
  void hardware_that_is_asked_for_and_missing_is_exit_4() {
    assertThat(session.type("run", "pull-vs-push", "-s", "gpu=cuda:0", "--dry-run"))
        .isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(session.err()).isEqualTo("gpu  DB-E001  no CUDA driver\n  fix     use gpu: vm\n");
  }

  @Test
  void a_fault_of_ours_shows_its_trace_only_when_asked() {
    session.runtime.check =
        _ -> {
          throw new IllegalStateException("a table is out of step");
        };
    assertThat(session.type("show", "pull-vs-push")).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-X001", "out of step").doesNotContain("\tat ");
    session.type("show", "pull-vs-push", "-v");
    assertThat(session.err()).contains("\tat ");
  }

  @Test
  void exit_statuses_are_the_documented_ones() {
    assertThat(Stream.of(ExitCode.values()).map(ExitCode::status))
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 77, 130);
  }

  @Test
  void show_prints_an_experiment_that_is_valid_itself() throws IOException {
    session.type("show", "pull-vs-push", "-s", "size=8,64");
    Path shown = Files.writeString(folder.resolve("shown.yaml"), session.out());
    assertThat(session.type("validate", shown.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out()).endsWith("ok, 42 points\n");
  }

  @Test
  void predict_prints_the_closed_forms_and_says_that_nothing_was_run() {
    session.type(
        "predict", "pull-vs-push", "-s", "size=4K", "-s", "path=pull", "-s", "placement=cross-rc");
    assertThat(session.out())
        .isEqualTo(
            """
            path  placement   size  metric   model  unit  form
            pull  cross-rc   4 KiB  latency   2205  ns    [1]
            [1] T = a + N/B
            cross-rc put_latency pull: tested by no row
            cross-rc put_bandwidth pull: tested by no row
            MODELLED (closed forms) - nothing was run or measured
            """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"experiments", "kernels", "paths", "topologies", "metrics", "axes", "codes"})
  void everything_can_be_listed_and_what_is_listed_can_be_described(String kind) {
    assertThat(session.type("list", kind)).isEqualTo(ExitCode.OK);
    List<String> names = session.out().lines().map(line -> line.split(" ", 2)[0]).toList();
    assertThat(names).isNotEmpty();
    for (String name : names) {
      assertThat(session.type("describe", name)).as(name).isEqualTo(ExitCode.OK);
      assertThat(session.out()).contains(name);
    }
  }

  @Test
  void the_description_of_a_topology_is_a_topology_file(@TempDir Path folder) throws Exception {
    assertThat(session.type("describe", "h200-cx7")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("# topology h200-cx7\n");
    Path file = Files.writeString(folder.resolve("slow.yaml"), session.out());
    assertThat(TopologyFile.load(file.toString())).isEqualTo(TopologyFile.load("h200-cx7"));
  }

  @Test
  void describe_of_an_experiment_tells_question_variables_and_expected_outcome() {
    session.type("describe", "pull-vs-push");
    assertThat(session.out())
        .contains(
            "On which topologies and message sizes does GPU push beat NIC pull?",
            "axis     size: 8 B, 64 B",
            "metric   latency: ",
            "points   153, 36 excluded",
            "expect   On constants that measurements");
  }

  @Test
  void the_version_is_the_build_s() throws IOException {
    String pom = Files.readString(Path.of("cli/pom.xml"));
    assertThat(pom).contains("<version>" + Version.NUMBER + "</version>");
  }

  @Test
  void the_version_loads_neither_option_parser_nor_yaml() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xlog:class+load:file=" + folder.resolve("classes.txt"),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "--version")
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    assertThat(printed).isEqualTo("doorbell " + Version.NUMBER + System.lineSeparator());
    assertThat(Files.readString(folder.resolve("classes.txt")))
        .contains("dev.doorbell.experiments.Main")
        .doesNotContain("picocli", "jackson", "snakeyaml", "dev.doorbell.core");
  }

  static String golden(String name) throws IOException {
    try (InputStream in = ToolTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void messages_and_help_fit_a_terminal_of_eighty_columns() {
    session.width = 80;
    assertThat(session.type("table", "RUN", "--columns", "p5O")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err())
        .contains("--columns", "'p5O' is none of p50, ci, n, p99", "did", "'p50'")
        .doesNotContain("case-insensitive");
    assertThat(session.err().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
    for (Subcommand subcommand : Subcommand.values()) {
      assertThat(session.type(subcommand.word(), "--help")).isEqualTo(ExitCode.OK);
      assertThat(session.out().lines())
          .allSatisfy(line -> assertThat(line).as(subcommand.word()).hasSizeLessThan(81));
    }
  }
}
