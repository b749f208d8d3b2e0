package dev.doorbell.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a kernel can do to its GPU, each in a process that has to end by itself. */
class CudaFaultTest {
  private static final long PATIENCE_SECONDS = 30;

  @TempDir private Path folder;

  @BeforeAll
  static void requireGpu() {
    Probe probe = CudaProbe.probe();
    assumeTrue(probe instanceof Probe.Ready, probe::describe);
  }

  @ParameterizedTest
  @CsvSource({
    "wild, a kernel accessed an illegal address",
    "misaligned, a kernel accessed a misaligned address",
    "traps, a kernel trapped or failed",
  })
  void a_fault_of_a_kernel_is_told_and_the_process_ends_cleanly(String kernel, String expected)
      throws IOException, InterruptedException {
    String said = run(kernel);
    assertThat(said)
        .contains("check: kernel %s failed: %s".formatted(kernel, expected))
        .contains("next: GPU 0 cannot be used any more in this process; before: kernel " + kernel)
        .contains("closed:")
        .endsWith("end: \n");
  }

  @Test
  void a_kernel_that_hangs_is_given_up_and_the_process_ends_all_the_same()
      throws IOException, InterruptedException {
    assertThat(run("hangs"))
        .contains("check: kernel hangs was given up: it did not end within 200.0 ms")
        .contains("next: GPU 0 still runs kernel hangs, which was given up")
        .contains("closed:")
        .endsWith("end: \n");
  }

  private String run(String kernel) throws IOException, InterruptedException {
    Path output = folder.resolve(kernel + ".txt");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Djava.library.path=" + System.getProperty("java.library.path"),
                    "-cp",
                    System.getProperty("java.class.path"),
                    FaultProgram.class.getName(),
                    kernel))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly().waitFor();
    }
    String said = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(ended).as("the process ended by itself; it said:%n%s", said).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }
}
