package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.cuda.SharedCudaGpus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that register memory of a GPU. The driver of programs and server is a stand-in ({@code
 * fakecuda.c}). A machine with a GPU runs the same programs:
 *
 * <pre>
 * cd host-runtime/interop/src/test/c
 * gcc -o gpu gpu.c -lcuda -lmlx5 -libverbs
 * gcc -DON_GPU -o devx devx.c -lcuda -lmlx5 -libverbs
 * gcc -o ibgda ibgda.c -lcuda -lmlx5 -libverbs
 * for program in gpu devx ibgda; do ../../../../../doorbell exec --real-gpus -- ./$program; done
 * SURVEY_OPTIONS='--real-gpus --hcas 2' ../../../../uverbs-shim/survey nccl nvshmem
 * </pre>
 */
final class GpuMemoryTest {
  @TempDir private Path folder;
  private Path driver = Path.of("");

  @BeforeEach
  void compileDriver() throws IOException, InterruptedException {
    ServedDevices.library();
    driver = folder.resolve("libcuda.so.1");
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libcuda.so.1",
                "-o",
                driver.toString(),
                "src/test/c/fakecuda.c")
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
  }

  @Test
  void regions_on_a_gpu_are_written_read_and_added_to() throws Exception {
    succeeds("gpu.c");
  }

  @Test
  void queues_on_a_gpu_carry_a_write_and_tell_of_events() throws Exception {
    succeeds("devx.c", "-DON_GPU");
  }

  /** Host and device side of NVSHMEM's IBGDA, step by step. */
  @Test
  void queues_of_a_gpu_initiated_library_carry_what_its_kernels_post() throws Exception {
    succeeds("ibgda.c");
  }

  @Test
  void without_gpus_the_server_names_the_option() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      ServedDevices.Program program = devices.start(compile(devices, "devx.c", "-DON_GPU"));
      program.process.waitFor();
      assertThat(program.said()).contains("serve with 'doorbell exec --real-gpus'");
      devices.awaitNobody();
    }
  }

  private void succeeds(String source, String... flags) throws Exception {
    SharedGpus gpus = new SharedCudaGpus(driver.toString());
    try (ServedDevices devices = ServedDevices.start(folder, ShimOptions.of(1).with(gpus))) {
      assertThat(devices.start(compile(devices, source, flags)).succeed()).endsWith("ok\n");
      devices.awaitNobody();
    }
  }

  private String compile(ServedDevices devices, String source, String... flags) throws Exception {
    assumeTrue(Files.exists(Path.of("/usr/include/infiniband/mlx5dv.h")), "no headers");
    String[] words = new String[flags.length + 4];
    System.arraycopy(flags, 0, words, 0, flags.length);
    words[flags.length] = driver.toString();
    words[flags.length + 1] = "-Wl,-rpath," + folder;
    words[flags.length + 2] = "-lmlx5";
    words[flags.length + 3] = "-libverbs";
    return devices.compile(source, words).toString();
  }
}
