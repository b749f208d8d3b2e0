package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.emulated.GpuFactory;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.interop.shim.gpu.ProgramGpus;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Stepper;
import dev.doorbell.ptxvm.launch.VmGpu;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs of the CUDA runtime and driver API, built by gcc alone, on emulated GPUs. */
final class EmulatedGpusTest {
  @TempDir private Path folder;
  private final ProgramGpus gpus =
      new ProgramGpus(2, (fabric, locus) -> new VmGpu(fabric, locus), TimeUnit.SECONDS.toNanos(60));

  private static Path libraries() throws Exception {
    ServedDevices.library();
    Path module = Path.of("").toAbsolutePath();
    return CudaLibraries.build(
        module.resolveSibling("cuda-shim"), module.resolve("target/cuda-shim"));
  }

  private ServedDevices serve() throws Exception {
    ServedDevices devices = ServedDevices.start(folder, ShimOptions.of(2).withEmulated(gpus));
    devices.set(CudaLibraries.environment(libraries(), ""));
    return devices;
  }

  private static String compile(ServedDevices devices, String... options) throws Exception {
    Path libraries = libraries();
    String[] words = {
      libraries.resolve("libcudart.so.13").toString(), libraries.resolve("libcuda.so.1").toString()
    };
    return devices
        .compile(
            "kernels.c", Stream.concat(Stream.of(options), Stream.of(words)).toArray(String[]::new))
        .toString();
  }

  @Test
  void a_program_of_the_host_abi_runs_its_kernels_in_all_ways() throws Exception {
    try (ServedDevices devices = serve()) {
      String program = compile(devices);
      assertThat(devices.start(program).succeed()).endsWith("ok\n");
      devices.awaitNobody();
      assertThat(gpus.missing()).containsExactly("cudaMallocArray");
    }
  }

  @Test
  void a_wild_pointer_is_error_700_that_names_kernel_line_and_nearest_memory() throws Exception {
    try (ServedDevices devices = serve()) {
      String said = devices.start(compile(devices), "wild").succeed();
      assertThat(said).contains("kernel add was stopped: load of 4 bytes at 0x123450", "ld.global");
      assertThat(said).endsWith("ok\n");
    }
  }

  @Test
  void assertions_traps_and_misaligned_accesses_have_errors_of_their_own_whatever_the_kernels_name()
      throws Exception {
    try (ServedDevices devices = serve()) {
      assertThat(devices.start(compile(devices), "errors").succeed()).endsWith("ok\n");
    }
  }

  /** Stands for an instruction that the VM carries out wrongly. */
  private static final class Broken implements Stepper {
    @Override
    public void step(VmThread t, Op first) {
      throw new IndexOutOfBoundsException("a table that is too short");
    }
  }

  @Test
  void a_fault_of_the_vm_is_error_719_and_the_server_says_its_stack_and_instruction_once()
      throws Exception {
    GpuFactory factory =
        (fabric, locus) -> {
          VmGpu gpu = new VmGpu(fabric, locus);
          gpu.stepBy(new Broken());
          return gpu;
        };
    ProgramGpus broken = new ProgramGpus(1, factory, TimeUnit.SECONDS.toNanos(60));
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try (ServedDevices devices =
        ServedDevices.start(folder, ShimOptions.of(1).withEmulated(broken))) {
      devices.set(CudaLibraries.environment(libraries(), ""));
      String said = devices.start(compile(devices), "fault").succeed();
      assertThat(said)
          .contains("a fault of Doorbell", "a table that is too short", "of kernel add, ")
          .endsWith("ok\n");
      devices.awaitNobody();
    } finally {
      System.setErr(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .containsOnlyOnce("a fault of Doorbell, not of the program")
        .contains("of kernel add, ", "mov.u32 i, %tid.x", Broken.class.getName() + ".step(");
  }

  @Test
  void machine_code_alone_is_refused_with_the_option_that_adds_ptx() throws Exception {
    try (ServedDevices devices = serve()) {
      String said = devices.start(compile(devices, "-DKIND=2"), "machine-code").succeed();
      assertThat(said).contains("-gencode arch=compute_90,code=compute_90").endsWith("ok\n");
    }
  }

  /** Regions, queues and doorbell records in memory of a GPU, which the HCA uses in place. */
  @ParameterizedTest
  @CsvSource({"devx.c, ON_GPU", "ibgda.c, ON_GPU", "ibgda.c, DMA_BUF"})
  void a_program_of_libmlx5_has_its_queues_and_payload_on_the_gpu(String source, String option)
      throws Exception {
    try (ServedDevices devices = serve()) {
      Path libraries = libraries();
      Path program =
          devices.compile(
              source,
              "-D" + option,
              libraries.resolve("libcuda.so.1").toString(),
              "-lmlx5",
              "-libverbs");
      assertThat(devices.start(program.toString()).succeed()).endsWith("ok\n");
      devices.awaitNobody();
    }
  }

  @Test
  void a_program_that_ends_while_its_memory_is_under_way_harms_no_other() throws Exception {
    try (ServedDevices devices = serve()) {
      String library = libraries().resolve("libcuda.so.1").toString();
      Path program = devices.compile("underway.c", library, "-libverbs");
      assertThat(devices.start(program.toString()).succeed()).endsWith("ok\n");
      devices.awaitNobody();
    }
  }

  @Test
  void physical_memory_is_mapped_to_several_ranges_and_in_another_process() throws Exception {
    try (ServedDevices devices = serve()) {
      Path program = devices.compile("physical.c", libraries().resolve("libcuda.so.1").toString());
      assertThat(devices.start(program.toString()).succeed()).endsWith("ok\n");
      devices.awaitNobody();
    }
  }

  @Test
  void a_program_that_is_killed_leaves_no_memory_behind() throws Exception {
    try (ServedDevices devices = serve()) {
      String program = compile(devices);
      for (int i = 0; i < 3; i++) {
        ServedDevices.Program spinning = devices.start(program, "spin");
        spinning.awaitLine();
        assertThat(spinning.said()).contains("spinning");
        assertThat(windows()).isEqualTo(1);
        spinning.process.destroyForcibly().waitFor();
        devices.awaitNobody();
        awaitNoWindow();
      }
    }
  }

  /** A world in which program n is rank n. */
  private record Ranks() implements ServedWorld {
    @Override
    public Fabric create(AddressSpace memory) {
      return new DirectFabric(memory, 0);
    }

    @Override
    public Locus gpu(int program, int index) {
      return Locus.gpu(program, index);
    }

    @Override
    public Locus nic(int number) {
      return Locus.nic(number, 0);
    }
  }

  @Test
  void a_program_has_the_place_of_the_rank_that_its_launcher_gave_it() throws Exception {
    List<Locus> places = new CopyOnWriteArrayList<>();
    GpuFactory factory =
        (fabric, locus) -> {
          places.add(locus);
          return new VmGpu(fabric, locus);
        };
    try (ProgramGpus placed =
            new ProgramGpus(1, factory, TimeUnit.SECONDS.toNanos(60)).in(new Ranks());
        ServedDevices devices =
            ServedDevices.start(folder, ShimOptions.of(1).withEmulated(placed))) {
      String program = compile(devices);
      for (String rank : List.of("2", "1", "")) {
        Map<String, String> variables = new HashMap<>(CudaLibraries.environment(libraries(), ""));
        variables.put("PMI_RANK", rank);
        devices.set(variables);
        devices.start(program, "spin").awaitLine();
      }
      assertThat(places).containsExactly(Locus.gpu(2, 0), Locus.gpu(1, 0), Locus.gpu(0, 0));
    }
  }

  private static void awaitNoWindow() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (windows() > 0) {
      assertThat(System.nanoTime()).as("memory is given back").isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  private static long windows() throws Exception {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("doorbell-gpu")).count();
    }
  }
}
