package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.interop.shim.gpu.ProgramGpus;
import dev.doorbell.ptxvm.launch.VmGpu;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs on emulated GPUs that crash, are killed, take all memory and try to reach another's: two
 * rounds, or {@code -Ddoorbell.soak.minutes=10}. A program that works beside them notices nothing,
 * and the server is as large afterwards as after a third of the time.
 */
final @Tag("slow") // rounds of programs that end in many ways
class StrangersTest {
  private static final long NANOS =
      Math.round(
          Double.parseDouble(System.getProperty("doorbell.soak.minutes", "0"))
              * TimeUnit.MINUTES.toNanos(1));

  /** KiB that the JVM may compile and not yet have collected; a round of programs fills more. */
  private static final long SLACK_KIB = 64 << 10;

  @TempDir private Path folder;

  /** Memory and files that the server holds. */
  private record Size(long windows, long files, long residentKib, long heapKib) {
    static Size now() throws IOException {
      System.gc();
      Runtime heap = Runtime.getRuntime();
      try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"));
          Stream<Path> files = Files.list(Path.of("/proc/self/fd"));
          Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
        return new Size(
            maps.filter(line -> line.contains("doorbell-gpu")).count(),
            files.count(),
            status
                .filter(line -> line.startsWith("RssShmem:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum(),
            (heap.totalMemory() - heap.freeMemory()) >> 10);
      }
    }
  }

  @Test
  @Timeout(value = 1, unit = TimeUnit.DAYS)
  void programs_that_fail_leave_neither_memory_behind_nor_others_harmed() throws Exception {
    Path libraries = libraries();
    ProgramGpus gpus =
        new ProgramGpus(
            1, (fabric, locus) -> new VmGpu(fabric, locus), TimeUnit.SECONDS.toNanos(600));
    try (ServedDevices devices =
        ServedDevices.start(folder, ShimOptions.of(1).withEmulated(gpus))) {
      devices.set(CudaLibraries.environment(libraries, ""));
      String program =
          devices
              .compile("strangers.c", libraries.resolve("libcuda.so.1").toString(), "-libverbs")
              .toString();
      ServedDevices.Program worker = devices.start(program, "work");
      worker.awaitLine();
      String secret = worker.said().strip();
      OutputStream rounds = worker.process.getOutputStream();
      long start = System.nanoTime();
      List<Size> sizes = new ArrayList<>();
      do {
        round(devices, program, secret);
        rounds.write('\n');
        rounds.flush();
        awaitOne(devices);
        sizes.add(Size.now());
      } while (sizes.size() < 2 || System.nanoTime() - start < NANOS);
      assertThat(worker.process.isAlive()).as(worker.said()).isTrue();
      rounds.close();
      worker.succeed();
      Size early = sizes.get((sizes.size() - 1) / 3);
      Size late = sizes.getLast();
      System.out.printf("%d rounds, from %s to %s%n", sizes.size(), early, late);
      assertThat(late.windows).isEqualTo(early.windows);
      assertThat(late.files).isEqualTo(early.files);
      assertThat(late.residentKib).isLessThan(early.residentKib + SLACK_KIB);
      assertThat(late.heapKib).isLessThan(early.heapKib + SLACK_KIB);
    }
  }

  private static void round(ServedDevices devices, String program, String secret)
      throws IOException, InterruptedException {
    List<ServedDevices.Program> ending = new ArrayList<>();
    ending.add(devices.start(program, "exhaust"));
    ending.add(devices.start(program, "peek", secret));
    ServedDevices.Program crashing = devices.start(program, "crash");
    ServedDevices.Program killed = devices.start(program, "wait");
    killed.awaitLine();
    assertThat(killed.said()).contains("spinning");
    killed.process.destroyForcibly().waitFor();
    assertThat(crashing.process.waitFor()).as(crashing.said()).isEqualTo(128 + 6);
    for (ServedDevices.Program each : ending) {
      each.succeed();
    }
  }

  /** Waits until the worker alone has connections and memory. */
  private static void awaitOne(ServedDevices devices) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (devices.server().connections() > 1 || Size.now().windows > 1) {
      assertThat(System.nanoTime()).as("memory is given back").isLessThan(deadline);
      Thread.sleep(10);
    }
  }

  private static Path libraries() throws Exception {
    ServedDevices.library();
    Path module = Path.of("").toAbsolutePath();
    return CudaLibraries.build(
        module.resolveSibling("cuda-shim"), module.resolve("target/cuda-shim"));
  }
}
