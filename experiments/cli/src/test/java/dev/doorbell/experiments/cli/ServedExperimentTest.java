package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.Main;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code doorbell exec --gpus 0 -- doorbell run}, as it is typed: kernels in the PTX VM, the
 * machine's own libibverbs and libmlx5 below them, and our HCA as the device.
 */
@Tag("slow")
class ServedExperimentTest {
  @TempDir private Path folder;

  @Test
  void pull_against_push_runs_through_the_vendors_library_with_every_byte_compared()
      throws Exception {
    requireTools();
    List<String> command = new ArrayList<>(doorbell());
    command.addAll(List.of("exec", "--gpus", "0", "--at", folder.resolve("hca").toString(), "--"));
    command.addAll(doorbell());
    command.addAll(List.of("run", "pull-vs-push", "--hca", "mlx5_0:1", "--out", folder + "/runs"));
    for (String setting :
        List.of(
            "gpu=vm",
            "clock=wall",
            "size=64,4K",
            "placement=same-switch",
            "path=pull,pull.bf,push.inline,push.bf,push.memic,staged,proxy")) {
      command.addAll(List.of("-s", setting));
    }
    try (TestProgram program = TestProgram.start(folder, command)) {
      assertThat(program.succeed())
          .contains("queues by DEVX", "mlx5_0 port 1", "basis emulated")
          .contains("12 of 12 points verified");
    }
  }

  private static List<String> doorbell() {
    List<String> words =
        TestProgram.java(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Ddoorbell.home=" + Path.of("..").toAbsolutePath().normalize());
    words.add(Main.class.getName());
    return words;
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
