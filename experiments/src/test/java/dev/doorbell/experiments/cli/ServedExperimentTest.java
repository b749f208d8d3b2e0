package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.Main;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code doorbell hca exec -- doorbell run}, as it is typed: kernels in the PTX VM, the machine's
 * own libibverbs and libmlx5 below them, and our HCA as the device.
 */
@Tag("slow")
class ServedExperimentTest {
  private static final int SECONDS = 120;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlx5_0:1 | pull,pull.bf,push.inline,push.bf,staged,proxy | 10 | queues by DEVX",
        "verbs    | pull,push.inline,staged,proxy                           |  7 | by ibv_post_send",
      })
  void pull_against_push_runs_through_the_vendors_library_with_every_byte_compared(
      String hca, String paths, int points, String driver) throws Exception {
    requireTools();
    List<String> command = new ArrayList<>(doorbell());
    command.addAll(List.of("hca", "exec", "--at", folder.resolve("hca").toString(), "--"));
    command.addAll(doorbell());
    command.addAll(List.of("run", "pull-vs-push", "--hca", hca, "--out", folder + "/runs"));
    for (String setting :
        List.of("gpu=vm", "clock=wall", "size=64,4K", "placement=same-switch", "path=" + paths)) {
      command.addAll(List.of("-s", setting));
    }
    Path output = folder.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
      String said = Files.readString(output, StandardCharsets.UTF_8);
      assertThat(ended).as("ends in %d s; so far it says%n%s", SECONDS, said).isTrue();
      assertThat(process.exitValue()).as(said).isZero();
      assertThat(said)
          .contains(driver, "mlx5_0 port 1", "basis emulated")
          .contains("%d of %d points verified".formatted(points, points));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private static List<String> doorbell() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-Ddoorbell.home=" + Path.of("..").toAbsolutePath().normalize(),
        "-cp",
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
        Main.class.getName());
  }

  private static void requireTools() {
    boolean gcc =
        Arrays.stream(System.getenv("PATH").split(":"))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, "gcc")));
    assumeTrue(gcc, "no gcc; apt-get install gcc libc6-dev linux-libc-dev");
    assumeTrue(
        Files.exists(Path.of("/etc/libibverbs.d/mlx5.driver")),
        "no libmlx5; apt-get install ibverbs-providers");
  }
}
