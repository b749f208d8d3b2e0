package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples of docs/data.md, typed into the programs that they are for. A program that is not
 * installed is skipped; {@code -Ddoorbell.python=PYTHON} names one that has pandas or DuckDB.
 */
class DataExamplesTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  @BeforeEach
  void samples_of_a_run() throws IOException {
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
            measure: { metrics: [latency, tlp.bytes], samples: 10 }
            """);
    Path runs = folder.resolve("runs");
    session.type("run", config.toString(), "-q", "--tag", "it", "--out", runs.toString());
    assertThat(
            session.type(
                "table",
                "it",
                "--runs",
                runs.toString(),
                "--format",
                "tidy",
                "-o",
                folder.resolve("samples.csv").toString()))
        .as(session.err())
        .isEqualTo(ExitCode.OK);
  }

  private static List<String> examples(String language) throws IOException {
    Matcher block =
        Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("../docs/data.md")));
    List<String> examples = new ArrayList<>();
    while (block.find()) {
      examples.add(block.group(1));
    }
    assertThat(examples).isNotEmpty();
    examples.forEach(example -> assertThat(example.lines()).hasSize(3));
    return examples;
  }

  /** What a program prints; null where it is not there. */
  private @Nullable String printed(String... command) throws IOException, InterruptedException {
    Path out = folder.resolve("printed.txt");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(out.toFile())
              .start();
    } catch (IOException e) {
      return null; // no such program
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s ends", command[0]).isTrue();
    String text = Files.readString(out);
    return process.exitValue() == 0 ? text : "failed: " + text;
  }

  private static void shows(@Nullable String printed) {
    assertThat(printed).doesNotStartWith("failed").contains("pull", "push.bf", "64", "4096");
  }

  @Test
  void the_file_is_tidy_and_its_units_stand_beside_it() throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve("samples.csv"));
    assertThat(lines.getFirst()).isEqualTo("run,basis,point,path,size,metric,sample,value");
    assertThat(lines.stream().filter(line -> line.contains(",pull,64,latency,"))).hasSize(10);
    assertThat(Files.readString(folder.resolve("samples.csv.units.json")))
        .contains("\"size\" : \"B\"", "\"latency\" : \"ns\"");
  }

  @Test
  void python_without_packages_reads_it() throws IOException, InterruptedException {
    Optional<String> python = Python.with("csv");
    assumeTrue(python.isPresent(), "needs python3; install it, or -Ddoorbell.python=PYTHON");
    String example =
        examples("python").stream().filter(e -> !e.contains("pandas")).findFirst().orElseThrow();
    shows(printed(python.get(), "-c", example));
  }

  @Test
  void pandas_reads_it() throws IOException, InterruptedException {
    Optional<String> python = Python.with("pandas");
    assumeTrue(python.isPresent(), Python.HOW_TO_GET_PANDAS);
    String example =
        examples("python").stream().filter(e -> e.contains("pandas")).findFirst().orElseThrow();
    shows(printed(python.get(), "-c", example));
  }

  @Test
  void r_reads_it() throws IOException, InterruptedException {
    String example = examples("r").getFirst();
    String said = printed("Rscript", "-e", example);
    assumeTrue(said != null, "needs Rscript: install R");
    shows(said);
  }

  @Test
  void duckdb_reads_it() throws IOException, InterruptedException {
    String example = examples("sql").getFirst();
    String said = printed("duckdb", "-c", example);
    Optional<String> python = Python.with("duckdb");
    Optional<Path> driver = driver();
    if (said == null && python.isPresent()) {
      String script = "import duckdb; print(duckdb.sql(\"\"\"" + example + "\"\"\"))";
      said = printed(python.get(), "-c", script);
    } else if (said == null && driver.isPresent()) {
      said = queried(driver.get(), example);
    }
    assumeTrue(
        said != null,
        "needs duckdb on the PATH, or pip install duckdb and -Ddoorbell.python=PYTHON, or"
            + " mvn dependency:get -Dartifact=org.duckdb:duckdb_jdbc:1.1.3");
    shows(said);
  }

  /** DuckDB as a library for Java, where Maven has it: nothing else here needs its 73 MB. */
  private static Optional<Path> driver() throws IOException {
    String kept =
        System.getProperty("maven.repo.local", System.getProperty("user.home") + "/.m2/repository");
    Path versions = Path.of(kept, "org/duckdb/duckdb_jdbc");
    if (!Files.isDirectory(versions)) {
      return Optional.empty();
    }
    try (Stream<Path> files = Files.walk(versions)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().findFirst();
    }
  }

  /** What a query prints through the library. */
  private @Nullable String queried(Path driver, String query)
      throws IOException, InterruptedException {
    Path program =
        Files.writeString(
            folder.resolve("Query.java"),
            """
            void main(String[] query) throws Exception {
              try (var db = java.sql.DriverManager.getConnection("jdbc:duckdb:");
                  var rows = db.createStatement().executeQuery(query[0])) {
                while (rows.next()) {
                  IO.println(rows.getString(1) + " " + rows.getString(2) + " " + rows.getString(3));
                }
              }
            }
            """);
    return printed(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-Djava.io.tmpdir=" + folder,
        "-cp",
        driver.toString(),
        program.toString(),
        query);
  }
}
