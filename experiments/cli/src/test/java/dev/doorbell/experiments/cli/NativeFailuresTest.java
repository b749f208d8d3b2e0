package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.config.Configs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code mmap}, {@code memfd_create} and {@code ftruncate} of Doorbell's own fail now and then, by
 * seed: a refusal with a reason and a fix, or an errno for the program that asked, and no wrong
 * byte. {@code -Ddoorbell.seeds=500} takes so many.
 */
class NativeFailuresTest {
  private static final int ENVIRONMENT = 4;
  private static final Path SOURCES = Path.of("../host-runtime/interop/src/test/c");

  @TempDir private Path folder;
  private Path failing = Path.of("");
  private Path calls = Path.of("");

  @BeforeEach
  void a_library_whose_calls_fail() throws Exception {
    failing = folder.resolve("failing.so");
    calls = folder.resolve("failed-calls");
    compile("failing.c", failing, "-shared", "-fPIC");
  }

  private void compile(String source, Path to, String... options) throws Exception {
    Path file = SOURCES.resolve(source);
    assertThat(file).exists();
    List<String> words = new ArrayList<>(List.of("gcc", "-O1", "-o", to.toString(), "" + file));
    words.addAll(List.of(options));
    try (TestProgram compiler = TestProgram.start(folder, words)) {
      assumeTrue(
          compiler.await() == 0,
          "no libibverbs for gcc; install it ('apt-get install libc6-dev libibverbs-dev')");
    } catch (IOException e) {
      assumeTrue(false, "no gcc; install it ('apt-get install gcc')");
    }
  }

  @Test
  @Tag("slow") // each seed runs an experiment twice
  void a_run_and_its_resume_end_with_the_same_bytes_or_a_refusal() throws Exception {
    String latencies = Configs.SMALL.replace("[latency, goodput, tlp.bytes]", "[latency]");
    String config = Files.writeString(folder.resolve("small.yaml"), latencies).toString();
    Path good = folder.resolve("good");
    typed(0, 0, "run", config, "-q", "--out", good.toString());
    Map<String, String> whole = FailingDiskTest.files(made(good).getFirst().resolve("samples"));
    assertThat(whole).hasSize(5);
    int struck = 0;
    int seeds = Integer.getInteger("doorbell.seeds", 2);
    for (int seed = 1; seed <= seeds; seed++) {
      Path runs = folder.resolve("runs" + seed);
      Said first = typed(seed, 3, "run", config, "-q", "--out", runs.toString());
      struck += first.failures();
      if (made(runs).isEmpty()) {
        assertThat(first.code()).as(first.text()).isEqualTo(ENVIRONMENT);
        continue;
      }
      String run = made(runs).getFirst().toString();
      if (first.code() != 0) {
        Said table = typed(0, 0, "table", run);
        assertThat(table.text()).contains("DB-E054", "mmap failed", "raise 'ulimit -v'");
      }
      Said resumed = typed(0, 0, "run", "--resume", run, "-q");
      assertThat(resumed.code()).as(resumed.text()).isZero();
      assertThat(FailingDiskTest.files(Path.of(run, "samples")))
          .as("seed %d", seed)
          .isEqualTo(whole);
    }
    assertThat(struck).isPositive();
  }

  /** Two programs one after the other, so that the second meets what the first has left. */
  @Test
  void a_served_program_gets_an_errno_and_the_next_one_is_unharmed() throws Exception {
    Path traffic = folder.resolve("traffic");
    compile("traffic.c", traffic, "-libverbs");
    int struck = 0;
    int seeds = Integer.getInteger("doorbell.seeds", 2);
    for (int seed = 1; seed <= seeds; seed++) {
      String programs =
          "for i in 1 2 3; do %s $i 20; echo \"$i ended with $?\"; done".formatted(traffic);
      Said said =
          typed(
              seed,
              8,
              "exec",
              "--hcas",
              "1",
              "--at",
              folder.resolve("hca" + seed).toString(),
              "--",
              "sh",
              "-c",
              programs);
      struck += said.failures();
      if (said.code() == ENVIRONMENT) {
        assertThat(said.text()).contains("DB-E054", "mmap failed");
        continue;
      }
      assertThat(said.code()).as(said.text()).isZero();
      assertThat(said.text().lines().filter(line -> line.contains("ended with"))).hasSize(3);
      // What the programs compare of memory and hashes.
      assertThat(said.text()).doesNotContain("memcmp", "value == old", "hash(", "IBV_WC_SUCCESS");
    }
    assertThat(struck).isPositive();
  }

  private record Said(int code, String text, int failures) {}

  /**
   * Types a command.
   *
   * @param oneOf how many calls there are to one that fails; 0: none fails
   */
  private Said typed(int seed, int oneOf, String... words) throws Exception {
    Files.deleteIfExists(calls);
    List<String> command = TestProgram.java("-Xmx512m", "-XX:TieredStopAtLevel=1");
    command.add("-Ddoorbell.home=" + Path.of("..").toAbsolutePath().normalize());
    command.add("dev.doorbell.experiments.Main");
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command);
    if (oneOf > 0) {
      builder.environment().put("LD_PRELOAD", failing.toString());
      builder.environment().put("FAIL_SEED", String.valueOf(seed));
      builder.environment().put("FAIL_ONE_OF", String.valueOf(oneOf));
      builder.environment().put("FAIL_REPORT", calls.toString());
    }
    try (TestProgram program = TestProgram.start(folder, builder)) {
      int code = program.await();
      String text = program.said();
      assertThat(text).as("seed %d", seed).doesNotContain("report it", "Exception", "DB-X0");
      int failures = Files.exists(calls) ? Files.readAllLines(calls).size() : 0;
      return new Said(code, text, failures);
    }
  }

  private static List<Path> made(Path runs) throws IOException {
    if (!Files.exists(runs)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(runs)) {
      return all.toList();
    }
  }
}
