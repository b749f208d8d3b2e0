package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.latex.Latex;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * First hours with Doorbell, typed as docs/getting-started.md and docs/first-hours.md have them,
 * one page after the other in one folder.
 */
@Tag("slow")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StoryboardsTest {
  private static final Path FIRST_HOURS = Path.of("../docs/first-hours.md");
  private static final String BLOCK = "```sh\n";
  private static final Pattern NUMBER = Pattern.compile("[0-9][0-9,]*(?:[.][0-9]+)?");
  private static final Path GETTING_STARTED = Path.of("../docs/getting-started.md");

  /** Where pages are typed. */
  @TempDir private static Path pages;

  @TempDir private Path folder;

  private final RealSession session = new RealSession();

  /** Types a line that has to succeed. */
  private String typed(String... words) {
    assertThat(session.type(words))
        .as("%s%n%s%s", String.join(" ", words), session.out(), session.err())
        .isEqualTo(ExitCode.OK);
    return session.out();
  }

  /** Types the n-th block of the first hours. */
  private String page(int block, String before) throws IOException, InterruptedException {
    String rest = Files.readString(FIRST_HOURS);
    for (int i = 0; i < block; i++) {
      rest = rest.substring(rest.indexOf(BLOCK) + BLOCK.length());
    }
    return shell(before + rest.substring(0, rest.indexOf("```")));
  }

  private String page(int block) throws IOException, InterruptedException {
    return page(block, "");
  }

  /**
   * Types a script in the folder of pages, which has the launcher, the papers, and what others
   * left.
   */
  private String shell(String script) throws IOException, InterruptedException {
    Path home = Path.of("..").toRealPath();
    Path launcher = pages.resolve("doorbell");
    if (!Files.exists(launcher)) {
      // As the real one: without the second compiler for what ends soon, and with the classes that
      // an earlier start has loaded; they are half of what a small command takes.
      Files.writeString(
          launcher,
          """
          #!/bin/sh
          case $1 in calibrate|explore|kernel|paper) compilers=;; *) compilers=-XX:TieredStopAtLevel=1;; esac
          exec '%s/bin/java' $compilers -XX:+UseSerialGC -Xlog:disable -XX:+AutoCreateSharedArchive \
            -XX:SharedArchiveFile='%s' --enable-native-access=ALL-UNNAMED -Ddoorbell.home='%s' -cp '%s' \
            dev.doorbell.experiments.Main "$@"
          """
              .formatted(
                  System.getProperty("java.home"), pages.resolve("classes.jsa"), home, archives()));
      assertThat(launcher.toFile().setExecutable(true)).isTrue();
      Path papers = Files.createDirectory(pages.resolve("papers"));
      try (Stream<Path> all = Files.list(home.resolve("papers"))) {
        for (Path paper : all.toList()) {
          Files.createSymbolicLink(papers.resolve(String.valueOf(paper.getFileName())), paper);
        }
      }
    }
    ProcessBuilder shell = new ProcessBuilder("bash", "-exo", "pipefail", "-c", script);
    try (TestProgram typing = TestProgram.start(folder, shell.directory(pages.toFile()))) {
      return typing.succeed();
    }
  }

  /** The class path with each folder of classes as an archive, since only those are shared. */
  private static String archives() throws IOException {
    List<String> path = new ArrayList<>();
    for (String part : TestProgram.classPath().split(File.pathSeparator, -1)) {
      Path folder = Path.of(part);
      if (!Files.isDirectory(folder)) {
        path.add(part);
        continue;
      }
      Path archive = pages.resolve(path.size() + ".jar");
      try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(archive));
          Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          jar.putNextEntry(new JarEntry(folder.relativize(file).toString()));
          Files.copy(file, jar);
        }
      }
      path.add(archive.toString());
    }
    return String.join(File.pathSeparator, path);
  }

  /** The paper that the third block makes. */
  private Path mine() {
    Path paper = pages.resolve("papers/first_try");
    if (!Files.exists(paper)) {
      typed("paper", "new", paper.toString());
      typed("paper", "build", paper.toString());
    }
    return paper;
  }

  /** Every command of the page, and every row of numbers that it shows. */
  @Test
  @Order(0)
  void getting_started_shows_what_its_commands_print() throws IOException, InterruptedException {
    String page = Files.readString(GETTING_STARTED);
    String text =
        shell(
            page.lines()
                .filter(line -> line.startsWith("    ./doorbell "))
                .map(String::strip)
                .collect(Collectors.joining("\n")));
    List<String> printed = text.lines().toList();
    Matcher blocks = Pattern.compile("```\n(.*?)```", Pattern.DOTALL).matcher(page);
    int rows = 0;
    while (blocks.find()) {
      for (String row : blocks.group(1).lines().toList()) {
        if (NUMBER.matcher(row).find() && !row.startsWith("run ") && !row.startsWith("figures ")) {
          rows++;
          assertThat(printed).as(row).anyMatch(line -> isAbout(row, line));
        }
      }
    }
    assertThat(rows).isGreaterThan(20);
  }

  /**
   * Whether a line begins with the words of a row, whatever its spaces, and with numbers near the
   * row's; three dots stand for anything.
   */
  private static boolean isAbout(String row, String line) {
    String[] shown = row.replaceFirst(" *[.]{3}$", "").strip().split("\\s+", -1);
    String[] found = line.strip().split("\\s+", -1);
    if (found.length < shown.length) {
      return false;
    }
    for (int i = 0; i < shown.length; i++) {
      if (!shown[i].equals(found[i])) {
        Matcher expected = NUMBER.matcher(shown[i]);
        Matcher actual = NUMBER.matcher(found[i]);
        boolean numbers = expected.find() && actual.find();
        if (!numbers
            || !shown[i].replace(expected.group(), "").equals(found[i].replace(actual.group(), ""))
            || Math.abs(value(actual) - value(expected)) > slack(shown[i], value(expected))) {
          return false;
        }
      }
    }
    return true;
  }

  /** By how much a number may differ: by 5 %, a percentage by 5. */
  private static double slack(String shown, double value) {
    return shown.startsWith("+") || shown.startsWith("-") ? 5 : 0.05 * value + 0.011;
  }

  private static double value(Matcher number) {
    return Double.parseDouble(number.group().replace(",", ""));
  }

  @Test
  @Order(1)
  void a_researcher_on_a_laptop_goes_from_the_demo_to_a_what_if()
      throws IOException, InterruptedException {
    String text = page(1);
    assertThat(text)
        .contains("verified 64 of 64 bytes", "MODELLED RESULT")
        .contains("timeline-pull-same-switch-64.pcapng", "tornado-latency-")
        .containsPattern("pull +same-switch +64 B +latency +6640 ")
        .containsPattern("pull +slow.yaml +64 B +latency +9340 ")
        .containsPattern("pull +same-switch +64 B +far +latency ");
  }

  @Test
  @Order(2)
  void a_kernel_of_ones_own_is_broken_explored_fixed_and_drawn_without_touching_java()
      throws IOException, InterruptedException {
    assertThat(page(2))
        .contains("credit_ring.kernel.yaml  ok", "points verified")
        .contains("the HCA reads what may not have arrived", "credit_ring.cu:", "--schedule")
        .contains("no finding in 40 schedules", "goodput.svg")
        .containsPattern("\ncredit_ring +a stream ");
  }

  @Test
  @Order(3)
  void an_author_measures_goes_on_and_compares_with_a_model()
      throws IOException, InterruptedException {
    assertThat(page(3))
        .contains("4 of 4 points verified", "no change", "to the byte")
        .containsPattern("metric +measured +.95 % CI. +modelled +.95 % CI. +error")
        .contains("MEASURED RESULT", "MODELLED RESULT");
  }

  @Test
  @Order(4)
  void a_regression_is_caught_in_ci_and_a_figure_printed_for_two_columns()
      throws IOException, InterruptedException {
    assertThat(page(4))
        .contains("gate failed", "REGRESSED", "\n6\n", "paper/latency.pdf")
        .contains("\\begin{tabular}", "change", "main");
    assertThat(Files.readString(pages.resolve("gate.xml"))).contains("failures=\"6\"");
    try (Stream<Path> figures = Files.list(pages.resolve("paper"))) {
      Path svg = figures.filter(file -> file.toString().endsWith(".svg")).findFirst().orElseThrow();
      assertThat(Files.readString(svg))
          .contains("NIC pull by BlueFlame", "Message size")
          .doesNotContain("modelled - not a hardware");
    }
  }

  @Test
  @Order(5)
  void samples_of_a_run_are_asked_in_pandas() throws IOException, InterruptedException {
    Optional<String> python = Python.with("pandas");
    assumeTrue(python.isPresent(), Python.HOW_TO_GET_PANDAS);
    Path bin = Files.createDirectories(pages.resolve("bin"));
    Files.createSymbolicLink(bin.resolve("python3"), Path.of(python.get()));
    String text = page(5, "PATH=$PWD/bin:$PATH\n");
    assertThat(text).contains("latency in ns").containsPattern("gain");
    // The median of 64 B by BlueFlame, as the script prints it and as Doorbell does.
    Matcher script = Pattern.compile("\n64 +[0-9.]+ +([0-9.]+) ").matcher(text);
    Matcher table = Pattern.compile("pull.bf +64 B +([0-9.]+) ").matcher(text);
    assertThat(script.find() && table.find()).as(text).isTrue();
    assertThat(Double.parseDouble(script.group(1)) / 1000)
        .isCloseTo(Double.parseDouble(table.group(1)), within(0.005));
  }

  @Test
  @Order(6)
  void a_papers_author_is_told_of_numbers_written_by_hand() throws IOException {
    Path paper = mine();
    assertThat(typed("paper", "verify", paper.toString())).contains("to the byte");
    Path generated = paper.resolve("generated/paper.md");
    Files.writeString(generated, Files.readString(generated) + "one more word\n");
    assertThat(session.type("paper", "verify", paper.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("differs   paper.md");
    Path text = paper.resolve("paper.md");
    Files.writeString(text, Files.readString(text) + "\nIt takes 3.2 µs and {{number nothing}}.\n");
    assertThat(session.type("paper", "build", paper.toString())).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err())
        .contains("'3.2 µs' is a result written by hand", "no number 'nothing'");
  }

  @Test
  void the_committed_paper_is_what_its_runs_give() {
    assertThat(typed("paper", "verify", "../papers/pull-vs-push")).contains("to the byte");
  }

  @Test
  @Order(5)
  void papers_are_set_by_latex_without_complaint() throws IOException, InterruptedException {
    Latex.assumeThere();
    Latex.compiles(mine(), "paper", 2);
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
}
