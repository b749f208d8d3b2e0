package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.Configs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Allocations that fail, wherever they come first, cost a refusal with a reason, and no number. */
@Tag("slow") // JVMs that collect garbage again and again
class SmallMemoryTest {
  private static final int ENVIRONMENT = 4;

  /** The JVM itself says so where a thread's handler has no memory, either. */
  private static final String OF_THE_JVM =
      "(?m)^Exception: java.lang.OutOfMemoryError thrown from the UncaughtExceptionHandler .*$";

  @TempDir private Path folder;
  private Path config = Path.of("");
  private Map<String, String> whole = Map.of();
  private String said = "";

  @BeforeEach
  void a_run_with_enough() throws Exception {
    String latencies = Configs.SMALL.replace("[latency, goodput, tlp.bytes]", "[latency]");
    config = Files.writeString(folder.resolve("small.yaml"), latencies);
    Path runs = folder.resolve("enough");
    assertThat(typed("-Xmx1g", "run", config.toString(), "-q", "--out", runs.toString())).isZero();
    whole = samples(made(runs).getFirst());
  }

  @ParameterizedTest
  @ValueSource(ints = {12, 24})
  void a_run_of_less_memory_ends_with_the_same_bytes_or_a_refusal(int megabytes) throws Exception {
    run(megabytes);
  }

  private void run(int megabytes) throws Exception {
    Path runs = folder.resolve("runs" + megabytes);
    String heap = "-Xmx" + megabytes + "m";
    int code = typed(heap, "run", config.toString(), "-q", "-j", "1", "--out", runs.toString());
    List<Path> made = made(runs);
    if (made.isEmpty()) {
      assertThat(code).as("%d MiB", megabytes).isEqualTo(ENVIRONMENT);
      return;
    }
    Path run = made.getFirst();
    if (code != 0) {
      typed("-Xmx1g", "table", run.toString());
      assertThat(said).as("%d MiB", megabytes).contains("DB-E054", "DOORBELL_JAVA_OPTS=-Xmx");
      assertThat(typed("-Xmx1g", "run", "--resume", run.toString(), "-q")).as(said).isZero();
    }
    assertThat(samples(run)).as("%d MiB", megabytes).isEqualTo(whole);
  }

  /** Figures and summaries name the run that they are of. */
  private static Map<String, String> samples(Path run) throws IOException {
    Map<String, String> samples = FailingDiskTest.files(run.resolve("samples"));
    assertThat(samples).hasSize(5);
    return samples;
  }

  private static List<Path> made(Path runs) throws IOException {
    if (!Files.exists(runs)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(runs)) {
      return all.toList();
    }
  }

  private int typed(String heap, String... words) throws Exception {
    List<String> command = TestProgram.java(heap, "-XX:TieredStopAtLevel=1");
    command.add("dev.doorbell.experiments.Main");
    command.addAll(List.of(words));
    try (TestProgram program = TestProgram.start(folder, command)) {
      int code = program.await();
      said = program.said();
      assertThat(said.replaceAll(OF_THE_JVM, "")).as(heap).doesNotContain("report it", "Exception");
      return code;
    }
  }
}
