package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.ptxvm.ir.Refusal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Whatever nvcc makes of the kernels, with and without optimisation, line tables and debug
 * information, for old and new targets, loads and computes what the hardware computed, and reads no
 * register that nothing has written.
 *
 * <p>nvcc's own -O levels reach host code only; those of device code are cicc's.
 */
@Tag("slow")
class NvccSweepTest {
  private static final List<List<String>> FLAGS =
      List.of(
          List.of("-arch=compute_75", "-O3"),
          List.of("-arch=compute_75", "-O0", "-Xcicc", "-O0"),
          List.of("-arch=compute_75", "-G"),
          List.of("-arch=compute_90", "-O3", "-lineinfo"),
          List.of("-arch=compute_90", "-O1", "-Xcicc", "-O1"),
          List.of("-arch=compute_90", "-G"));

  @SuppressWarnings("unused") // by name, below
  private static final Iterable<String> FILES = RecordedLaunches.files();

  @TempDir private Path folder;

  @ParameterizedTest
  @FieldSource("FILES")
  void every_way_to_compile_a_file_gives_the_results_of_the_hardware(String file)
      throws IOException, InterruptedException {
    assumeTrue(hasNvcc(), "skipped: nvcc is not on PATH; install CUDA 13.0 to enable this");
    List<String> wrong = new ArrayList<>();
    for (List<String> flags : FLAGS) {
      String ptx = compile(file, flags);
      List<Refusal> refusals = World.check(file + ".ptx", ptx);
      refusals.forEach(refusal -> wrong.add(flags + ": " + refusal));
      if (refusals.isEmpty()) {
        run(file, ptx).forEach(difference -> wrong.add(flags + ": " + difference));
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static List<String> run(String file, String ptx) {
    List<String> differences = new ArrayList<>();
    try (World world = new World()) {
      GpuModule module = world.gpu.load(file + ".ptx", ptx);
      for (RecordedLaunches.Launch launch : RecordedLaunches.all()) {
        if (launch.file().equals(file) && module.entries().contains(launch.entry())) {
          differences.addAll(RecordedLaunches.differences(world, module, launch));
        }
      }
    }
    return differences;
  }

  private String compile(String file, List<String> flags) throws IOException, InterruptedException {
    Path out = folder.resolve(file + ".ptx");
    List<String> command = new ArrayList<>(List.of("nvcc", "-w", "-ptx", "-std=c++17"));
    command.addAll(flags);
    command.add(RecordedLaunches.SOURCES.resolve(file + ".cu").toString());
    command.addAll(List.of("-o", out.toString()));
    Process nvcc = new ProcessBuilder(command).redirectErrorStream(true).start();
    String log = new String(nvcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(nvcc.waitFor()).as(log).isZero();
    return Files.readString(out);
  }

  private static boolean hasNvcc() throws InterruptedException {
    try {
      Process nvcc = new ProcessBuilder("nvcc", "--version").redirectErrorStream(true).start();
      nvcc.getInputStream().readAllBytes();
      return nvcc.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
