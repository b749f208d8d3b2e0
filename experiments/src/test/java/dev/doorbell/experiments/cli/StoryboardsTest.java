package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three first hours with Doorbell, typed as docs/getting-started.md has them, on the runtime that
 * users get.
 */
@Tag("slow")
class StoryboardsTest {
  private static final Path GETTING_STARTED = Path.of("../docs/getting-started.md");

  @TempDir private Path folder;

  private String out = "";
  private String err = "";

  private ExitCode type(String... words) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    Context context =
        new Context(
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

  @Test
  void a_researcher_on_a_laptop_goes_from_the_demo_to_a_what_if() throws IOException {
    assertThat(typed("demo")).contains("CQE", "verified 64 of 64 bytes");
    Path runs = folder.resolve("runs");
    String run =
        typed(
                "run",
                "pull-vs-push",
                "-s",
                "size=64,4K,64K",
                "-s",
                "path=pull,push.memic,staged",
                "-s",
                "placement=same-switch,cross-socket",
                "--out",
                runs.toString(),
                "-q")
            .strip();
    assertThat(typed("table", run)).contains("MODELLED RESULT");
    Path report = Path.of(typed("report", run).strip());
    assertThat(Files.readString(report)).contains("Not a hardware measurement", "<svg");
    for (String kind : List.of("line", "bar", "heatmap")) {
      typed("plot", run, "--kind", kind, "--only", "size<=4K", "--out", folder + "/" + kind);
      assertThat(folder.resolve(kind)).isNotEmptyDirectory();
    }
    typed("plot", run, "--kind", "tornado", "--only", "path=pull", "--out", folder + "/t");
    typed("plot", run, "--kind", "timeline", "--only", "path=pull", "--out", folder + "/t");
    try (Stream<Path> files = Files.list(folder.resolve("t"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .contains(
              "tornado-latency-pull-same-switch-64.svg",
              "timeline-pull-same-switch-64.perfetto.json",
              "timeline-pull-same-switch-64.pcapng");
    }
    // What if the switch were three times as slow?
    Path topology = folder.resolve("slow.yaml");
    String text = typed("describe", "same-switch");
    String yaml = text.substring(text.indexOf("# GPU and HCA under one"));
    Files.writeString(topology, yaml.replace("ns: {value: 225", "ns: {value: 675"));
    String[] what = {"predict", "pull-vs-push", "-s", "size=64", "-s", "path=pull", "-s", ""};
    what[7] = "placement=same-switch";
    double near = predicted(typed(what));
    what[7] = "placement=" + topology;
    assertThat(predicted(typed(what))).isGreaterThan(near + 4 * 450);
  }

  /** The latency of the only line of a prediction, ns. */
  private static double predicted(String text) {
    String line = text.lines().filter(each -> each.contains("latency")).findFirst().orElseThrow();
    return Arrays.stream(line.strip().split("\\s+"))
        .filter(word -> word.matches("[0-9]+"))
        .mapToDouble(Double::parseDouble)
        .max()
        .orElseThrow();
  }

  @Test
  void a_kernel_of_ones_own_runs_without_touching_java() throws IOException {
    Path kernels = folder.resolve("kernels");
    Path kernel = kernels.resolve("my_put");
    typed("kernel", "new", "my_put", "--dir", kernel.toString());
    Path ptx = kernel.resolve("my_put.ptx");
    String descriptor = kernel.resolve("my_put.kernel.yaml").toString();
    typed("kernel", "check", ptx.toString());
    // Somebody leaves out the fences; the explorer finds it, and is content when they are back.
    String whole = Files.readString(ptx);
    Files.writeString(ptx, whole.replaceAll("(?m)^\\s*fence\\..*$", ""));
    assertThat(type("explore", descriptor, "--seeds", "20")).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(out).contains("the HCA reads what may not have arrived", "my_put.cu:", "--schedule");
    Files.writeString(ptx, whole);
    assertThat(typed("explore", descriptor, "--seeds", "20")).contains("CLEAN");
    String run =
        typed(
                "run",
                kernel.resolve("my_put.experiment.yaml").toString(),
                "--out",
                folder.resolve("runs").toString(),
                "-q")
            .strip();
    assertThat(typed("table", run)).contains("MODELLED RESULT");
    assertThat(typed("kernel", "diff-run", "post_once", "--gpu", "vm", "--runs", "3"))
        .contains("3 of 3 runs agree");
    assertThat(typed("list", "kernels", "--kernels", kernels.toString())).contains("my_put");
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
        "run pull-vs-push -s size=64,4K,64K -s placement=same-switch,cross-socket",
        "report",
        "plot",
        "predict pull-vs-push",
        "paper new"
      })
  void getting_started_has_the_commands_of_the_storyboards(String command) throws IOException {
    assertThat(Files.readString(GETTING_STARTED)).contains("./doorbell " + command);
  }
}
