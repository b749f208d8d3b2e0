package dev.doorbell.experiments.session.diff;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.cuda.CudaProbe;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.diff.KernelComparer;
import dev.doorbell.experiments.plan.EnvironmentException;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.BiFunction;

/** Compares a real GPU with the virtual machine, or the virtual machine's engines. */
public final class GpuComparer implements KernelComparer {
  private static final String CUDA = "cuda:";
  private static final long RUN_STEP = 0x9e37_79b9_7f4a_7c15L;

  /** For the service loader. */
  public GpuComparer() {}

  @Override
  public List<String> kernels() {
    List<String> kernels = new ArrayList<>(ComparedCase.KERNELS);
    kernels.addAll(ComparedPush.KERNELS);
    return kernels;
  }

  @Override
  public String compare(Request request) throws EnvironmentException {
    boolean real = request.gpu().startsWith(CUDA);
    String words =
        real
            ? "the PTX VM and %s".formatted(require(request.gpu()))
            : "the PTX VM's interpreter and its compiler";
    for (int number = request.first();
        number < request.first() + request.runs() && !request.interrupted().getAsBoolean();
        number++) {
      long seed = request.seed() + number * RUN_STEP;
      request.heard().accept(run(number, compared(request.kernel(), seed), request.gpu()));
    }
    return words;
  }

  private static Compared compared(String kernel, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return ComparedPush.KERNELS.contains(kernel)
        ? ComparedPush.random(kernel, random, seed)
        : new ComparedRun(ComparedCase.random(kernel, random), seed);
  }

  private static Run run(int number, Compared run, String gpu) {
    List<String> differences = new ArrayList<>();
    SequencedMap<String, byte[]> expected =
        attempt(run, vm(VmOptions.Engine.INTERPRETER), "the interpreter", differences);
    SequencedMap<String, byte[]> actual =
        attempt(
            run,
            gpu.startsWith(CUDA) ? cuda(gpu, run.mover()) : vm(VmOptions.Engine.COMPILED),
            gpu.startsWith(CUDA) ? gpu : "the compiler",
            differences);
    long compared = 0;
    if (differences.isEmpty()) {
      differences.addAll(run.compare(expected, actual));
      compared = expected.values().stream().mapToLong(bytes -> bytes.length).sum();
    }
    return new Run(number, run.parameters(), compared, differences);
  }

  private static SequencedMap<String, byte[]> attempt(
      Compared run,
      BiFunction<DirectFabric, Integer, Gpu> gpus,
      String who,
      List<String> differences) {
    try {
      return run.on(gpus);
    } catch (GpuException e) {
      differences.add("%s: %s".formatted(who, e.getMessage()));
      return new java.util.LinkedHashMap<>();
    }
  }

  private static BiFunction<DirectFabric, Integer, Gpu> vm(VmOptions.Engine engine) {
    VmOptions options = VmOptions.defaults().withEngine(engine);
    return (fabric, rank) -> new VmGpu(fabric, Locus.gpu(rank, 0), options);
  }

  private static BiFunction<DirectFabric, Integer, Gpu> cuda(String gpu, CudaGpu.Mover mover) {
    int ordinal = ordinal(gpu);
    return (fabric, rank) -> new CudaGpu(fabric, Locus.gpu(rank, 0), ordinal, mover);
  }

  private static int ordinal(String gpu) {
    return Integer.parseInt(gpu.substring(CUDA.length()));
  }

  private static String require(String gpu) throws EnvironmentException {
    Probe probe = CudaProbe.probe();
    if (probe instanceof Probe.Ready ready && ordinal(gpu) < ready.devices().size()) {
      return "%s (%s, %s)".formatted(gpu, ready.devices().get(ordinal(gpu)), ready.version());
    }
    throw new EnvironmentException(
        Problem.of("DB-E003", "--gpu " + gpu, probe.describe())
            .effect("nothing was run")
            .fix("--gpu vm compares the virtual machine's own engines, which needs no GPU"));
  }
}
