package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several runs in one plot command: no figure replaces another. */
class ManyRunsPlotTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  @BeforeEach
  void two_runs() throws IOException {
    run("old", "seed=1");
    run("new", "seed=2");
  }

  private void run(String tag, String setting) throws IOException {
    Path config =
        Files.writeString(
            folder.resolve("small.yaml"),
            """
            experiment: small
            question: Which is faster?
            kernel: put_latency
            axes:
              path: [pull, push.bf]
              size: [64, 4096]
            measure: { metrics: [latency], samples: 10 }
            outputs:
              figures:
                - { name: one, x: size, y: latency, series: path, yunit: us }
            """);
    assertThat(
            session.type(
                "run",
                config.toString(),
                "-q",
                "--tag",
                tag,
                "-s",
                setting,
                "--out",
                folder.resolve("runs").toString()))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
  }

  private ExitCode plot(String... options) {
    List<String> line =
        Stream.concat(
                Stream.of("plot", "old", "new", "--runs", folder.resolve("runs").toString()),
                Stream.of(options))
            .toList();
    return session.type(line.toArray(String[]::new));
  }

  @Test
  void as_many_files_are_there_as_are_printed() {
    Path out = folder.resolve("figures");
    assertThat(plot("--as", "svg,png", "--out", out.toString())).isEqualTo(ExitCode.OK);
    List<String> printed = session.out().lines().toList();
    assertThat(printed).hasSize(4).doesNotHaveDuplicates();
    assertThat(printed).allSatisfy(file -> assertThat(Path.of(file)).isNotEmptyFile());
  }

  @Test
  void lines_are_line_and_a_figure_of_the_config_takes_another_style() throws IOException {
    Path out = folder.resolve("figures");
    assertThat(
            session.type(
                "plot",
                "old",
                "--runs",
                folder.resolve("runs").toString(),
                "--kind",
                "lines",
                "--as",
                "svg",
                "--out",
                out.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(
            session.type(
                "plot",
                "old",
                "--runs",
                folder.resolve("runs").toString(),
                "--title",
                "Mine",
                "--as",
                "svg",
                "--out",
                out.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(Files.readString(out.resolve("one.svg"))).contains(">Mine<", "(µs)");
  }

  @Test
  void a_value_of_one_axis_is_renamed_as_it_is_in_a_config() throws IOException {
    Path out = folder.resolve("figures");
    assertThat(
            plot(
                "--names",
                "path=pull=NIC pull",
                "--names",
                "latency=t = time",
                "--as",
                "svg",
                "--out",
                out.toString()))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
    String svg = Files.readString(Path.of(session.out().lines().findFirst().orElseThrow()));
    assertThat(svg).contains(">NIC pull<", ">push.bf<", "t = time");
    assertThat(plot("--names", "pull")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("--names pull", "WORD=TEXT");
  }

  @Test
  void a_narrow_terminal_has_the_folder_once_and_rows_that_fit() {
    session.width = 60;
    Path out = folder.resolve("figures-of-a-long-name-that-does-not-fit-beside-its-files");
    assertThat(plot("--out", out.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains(out + "/", "\n  one.svg", "one.pdf");
  }
}
