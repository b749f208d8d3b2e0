package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.latex.Latex;
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
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** First hours with Doorbell, typed as docs/first-hours.md has them. */
@Tag("slow")
class StoryboardsTest {
  private static final Path FIRST_HOURS = Path.of("../docs/first-hours.md");
  private static final String BLOCK = "```sh\n";
  private static final Path GETTING_STARTED = Path.of("../docs/getting-started.md");

  @TempDir private Path folder;

  private String out = "";
  private String err = "";

  private ExitCode type(String... words) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    CommandContext context =
        new CommandContext(
            new Terminal(
                new PrintStream(outBytes, true, StandardCharsets.UTF_8),
                new PrintStream(errBytes, true, StandardCharsets.UTF_8),
                false),
            () -> ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow(),
            new Disk(),
            Clock.systemUTC(),
            new Interruption(),
            List.of(words));
    ExitCode code = new Tool(context).run(words);
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  /** Types a line that has to succeed. */
  private String typed(String... words) {
    assertThat(type(words))
        .as("%s%n%s%s", String.join(" ", words), out, err)
        .isEqualTo(ExitCode.OK);
    return out;
  }

  /** Runs the n-th block of the page in an empty folder that has the launcher and the papers. */
  private String page(int block) throws IOException, InterruptedException {
    String rest = Files.readString(FIRST_HOURS);
    for (int i = 0; i < block; i++) {
      rest = rest.substring(rest.indexOf(BLOCK) + BLOCK.length());
    }
    String script = rest.substring(0, rest.indexOf("```"));
    Path home = Path.of("..").toRealPath();
    Path launcher = folder.resolve("doorbell");
    Files.writeString(
        launcher,
        "#!/bin/sh\nexec '%s/bin/java' --enable-native-access=ALL-UNNAMED -Ddoorbell.home='%s' -cp '%s' dev.doorbell.experiments.Main \"$@\"\n"
            .formatted(System.getProperty("java.home"), home, TestProgram.classPath()));
    assertThat(launcher.toFile().setExecutable(true)).isTrue();
    Path papers = Files.createDirectory(folder.resolve("papers"));
    try (Stream<Path> all = Files.list(home.resolve("papers"))) {
      for (Path paper : all.toList()) {
        Files.createSymbolicLink(papers.resolve(String.valueOf(paper.getFileName())), paper);
      }
    }
    ProcessBuilder shell = new ProcessBuilder("bash", "-exo", "pipefail", "-c", script);
    try (TestProgram typing = TestProgram.start(folder, shell.directory(folder.toFile()))) {
      return typing.succeed();
    }
  }

  @Test
  void a_researcher_on_a_laptop_goes_from_the_demo_to_a_what_if()
      throws IOException, InterruptedException {
    String text = page(1);
    assertThat(text)
        .contains("verified 64 of 64 bytes", "MODELLED RESULT", "report.html")
        .contains("timeline-pull-same-switch-64.perfetto.json", "tornado-latency-")
        .containsPattern("pull +same-switch +64 B +latency +6640 ")
        .containsPattern("pull +slow.yaml +64 B +latency +9340 ")
        .containsPattern("pull +same-switch +64 B +far +latency ");
  }

  @Test
  void a_kernel_of_ones_own_is_broken_explored_fixed_and_drawn_without_touching_java()
      throws IOException, InterruptedException {
    assertThat(page(2))
        .contains("credit_ring.kernel.yaml  ok", "points verified")
        .contains("every thread ended with DOORBELL_OK, and what was sent has arrived")
        .contains("the HCA reads what may not have arrived", "credit_ring.cu:", "--schedule")
        .contains("CLEAN", "the PTX VM's interpreter and its compiler")
        .contains("the PTX VM's interpreter and its threads in another order")
        .contains("credit_ring    3 of 3 runs agree", "credit_ring    a stream", "goodput.svg");
  }

  @Test
  void an_author_measures_goes_on_compares_with_a_model_and_packs()
      throws IOException, InterruptedException {
    // Another page was typed before.
    Files.createDirectories(folder.resolve("runs/20260101-000000-pull-vs-push-0000"));
    assertThat(page(3))
        .contains("4 of 4 points verified", "no change", "to the byte", "mine.zip")
        .containsPattern("metric +measured +.95 % CI. +modelled +.95 % CI. +error")
        .contains("MEASURED RESULT", "MODELLED RESULT");
  }

  @Test
  void a_regression_is_caught_in_ci_and_a_figure_printed_for_two_columns()
      throws IOException, InterruptedException {
    assertThat(page(4))
        .contains("gate failed", "REGRESSED", "\n6\n", "paper/latency.pdf")
        .contains("\\begin{tabular}", "change", "main");
    assertThat(Files.readString(folder.resolve("gate.xml"))).contains("failures=\"6\"");
    try (Stream<Path> figures = Files.list(folder.resolve("paper"))) {
      Path svg = figures.filter(file -> file.toString().endsWith(".svg")).findFirst().orElseThrow();
      assertThat(Files.readString(svg))
          .contains("NIC pull by BlueFlame", "Message size")
          .doesNotContain("modelled - not a hardware");
    }
  }

  @Test
  void a_papers_author_compares_and_packs() throws IOException {
    type("doctor");
    assertThat(out + err).contains("passed");
    Path runs = folder.resolve("runs");
    String[] run = {
      "run",
      "pull-vs-push",
      "-s",
      "size=64,4K",
      "-s",
      "path=pull",
      "-s",
      "placement=same-switch",
      "-s",
      "samples=30",
      "--out",
      runs.toString(),
      "-q",
      "--tag",
      "first"
    };
    String first = typed(run).strip();
    run[run.length - 1] = "second";
    String second = typed(run).strip();
    assertThat(typed("compare", first, second)).contains("no change");
    // As after a time-out: the last lines of the journal have not been written.
    Path journal = Path.of(second).resolve("journal.jsonl");
    List<String> lines = Files.readAllLines(journal);
    Files.write(journal, lines.subList(0, lines.size() - 2));
    typed("run", "--resume", second, "-q");
    assertThat(typed("compare", first, second)).contains("no change");
    Path paper = folder.resolve("mine");
    typed("paper", "new", paper.toString());
    typed("paper", "build", paper.toString());
    assertThat(typed("paper", "verify", paper.toString())).contains("to the byte");
    Path once = folder.resolve("once.zip");
    Path twice = folder.resolve("twice.zip");
    typed("paper", "pack", paper.toString(), "-o", once.toString());
    typed("paper", "pack", paper.toString(), "-o", twice.toString());
    assertThat(once).hasSameBinaryContentAs(twice);

    Path generated = paper.resolve("generated/paper.md");
    Files.writeString(generated, Files.readString(generated) + "one more word\n");
    assertThat(type("paper", "verify", paper.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(out).contains("differs   paper.md");
    Path text = paper.resolve("paper.md");
    Files.writeString(text, Files.readString(text) + "\nIt takes 3.2 µs and {{number nothing}}.\n");
    assertThat(type("paper", "build", paper.toString())).isEqualTo(ExitCode.CONFIG);
    assertThat(err).contains("'3.2 µs' is a result written by hand", "no number 'nothing'");
  }

  @Test
  void the_committed_paper_is_what_its_runs_give() {
    assertThat(typed("paper", "verify", "../papers/pull-vs-push")).contains("to the byte");
  }

  @Test
  void papers_are_set_by_latex_without_complaint() throws IOException, InterruptedException {
    Latex.assumeThere();
    Path mine = folder.resolve("my_paper");
    typed("paper", "new", mine.toString());
    typed("paper", "build", mine.toString());
    Latex.compiles(mine, "paper", 2);
    Path committed = Path.of("../papers/pull-vs-push");
    Path copy = folder.resolve("copy");
    try (Stream<Path> files = Files.walk(committed)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path to = copy.resolve(committed.relativize(file).toString());
        Files.createDirectories(copy.resolve(to).getParent());
        Files.copy(file, to);
      }
    }
    Latex.compiles(copy, "paper", 2);
  }

  /** The commands of the page, so that page and storyboards agree. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo",
        "describe pull-vs-push",
        "run pull-vs-push -s size=64,4K,64K -s placement=h200-cx7,h200-cx7-rc",
        "report",
        "plot",
        "predict pull-vs-push",
        "paper new"
      })
  void getting_started_has_the_commands_of_the_storyboards(String command) throws IOException {
    assertThat(Files.readString(GETTING_STARTED)).contains("./doorbell " + command);
  }
}
