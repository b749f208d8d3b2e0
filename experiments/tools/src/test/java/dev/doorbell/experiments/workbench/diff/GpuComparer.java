package dev.doorbell.experiments.workbench.diff;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * Runs a kernel on two GPUs with random parameters, each beside the same software HCA, and compares
 * all memory that it leaves: payload, inbox, rings, records, counters, signals, status and error
 * records. Addresses count as places in what they point to; samples and stamps, which are times,
 * are left out.
 */
public final class GpuComparer {
  private static final String CUDA = "cuda:";

  /** Timeout of a kernel; its waits time out after half of it. */
  private static final long NANOS = 20_000_000_000L;

  private static final long RUN_STEP = 0x9e37_79b9_7f4a_7c15L;

  /** Orders of threads in which a kernel that differs is run once more. */
  private static final int ORDERS = 3;

  private GpuComparer() {}

  /**
   * The request of a comparison.
   *
   * @param gpu {@code cuda:N}, compared with the virtual machine; or {@code vm}, whose compiler is
   *     compared with its interpreter; or {@code vm:order}, the interpreter with its threads in
   *     another order
   * @param number of the run; its parameters depend on it and the seed alone
   */
  public record Request(Protocol protocol, String gpu, long seed, int number) {}

  /**
   * One run on both GPUs.
   *
   * @param parameters in words
   * @param compared bytes of memory that were compared
   * @param failed the kernel failed; nothing was compared
   * @param differences what failed or differs, in words; none when the run is right
   */
  public record Run(String parameters, long compared, boolean failed, List<String> differences) {}

  /** Runs and compares. */
  public static Run compare(Request request) {
    return run(
        compared(request),
        new VirtualMachine("the interpreter", VmOptions.Engine.INTERPRETER, OptionalLong.empty()),
        request);
  }

  /** Runs it once on the virtual machine alone. */
  public static Run runAlone(Request request) {
    ComparedRun run = compared(request);
    List<String> failures = new ArrayList<>();
    VmOptions.Engine engine = VmOptions.defaults().engine();
    SequencedMap<String, byte[]> left =
        attempt(run, new VirtualMachine("the PTX VM", engine, OptionalLong.empty()), failures);
    return new Run(run.parameters(), bytes(left), !failures.isEmpty(), failures);
  }

  private static long bytes(SequencedMap<String, byte[]> contents) {
    return contents.values().stream().mapToLong(bytes -> bytes.length).sum();
  }

  private static ComparedRun compared(Request request) {
    long seed = request.seed() + request.number() * RUN_STEP;
    return new ComparedRun(
        ComparedCase.random(request.protocol(), new SplittableRandom(seed)), seed);
  }

  private static Run run(ComparedRun first, ComparedRun.Machine reference, Request request) {
    ComparedRun run = first;
    List<String> failures = new ArrayList<>();
    SequencedMap<String, byte[]> expected = attempt(run, reference, failures);
    for (ComparedRun larger = run.roomier(expected);
        larger != null;
        larger = run.roomier(expected)) {
      run = larger;
      expected = attempt(run, reference, failures);
    }
    ComparedRun.Machine other =
        request.gpu().startsWith(CUDA)
            ? new CudaMachine(request.gpu(), run.mover())
            : engine(request);
    SequencedMap<String, byte[]> actual = attempt(run, other, failures);
    if (!failures.isEmpty()) {
      return new Run(run.parameters(), 0, true, failures);
    }
    List<String> differences =
        new ArrayList<>(run.compare(reference.name(), expected, other.name(), actual));
    if (!differences.isEmpty()) {
      differences.add(explain(run, reference.name(), expected));
    }
    return new Run(run.parameters(), bytes(expected), false, differences);
  }

  /** Checks whether the kernel itself leaves this or that, by the order in which its threads go. */
  private static String explain(
      ComparedRun run, String reference, SequencedMap<String, byte[]> expected) {
    for (int order = 1; order <= ORDERS; order++) {
      ComparedRun.Machine machine =
          new VirtualMachine(
              "order " + order, VmOptions.Engine.INTERPRETER, OptionalLong.of(order));
      List<String> failures = new ArrayList<>();
      SequencedMap<String, byte[]> again = attempt(run, machine, failures);
      if (!failures.isEmpty()
          || !run.compare(reference, expected, machine.name(), again).isEmpty()) {
        return "the interpreter alone leaves this or that, by the order in which threads and HCAs"
            + " go: a race";
      }
    }
    return "the interpreter leaves the same in %d orders of threads and HCAs".formatted(ORDERS + 1);
  }

  private static SequencedMap<String, byte[]> attempt(
      ComparedRun run, ComparedRun.Machine machine, List<String> failures) {
    try {
      return run.on(machine, NANOS);
    } catch (GpuException e) {
      failures.add("%s: %s".formatted(machine.name(), e.getMessage()));
      return new LinkedHashMap<>();
    }
  }

  /** The virtual machine; {@code order} picks the order in which threads and HCAs go. */
  private record VirtualMachine(String name, VmOptions.Engine engine, OptionalLong order)
      implements ComparedRun.Machine {
    @Override
    public DirectFabric fabric() {
      return order.isPresent()
          ? new DirectFabric(AddressSpace.reserve(), order.getAsLong())
          : new DirectFabric();
    }

    @Override
    public Gpu gpu(DirectFabric fabric, int rank) {
      return new VmGpu(fabric, Locus.gpu(rank, 0), VmOptions.defaults().withEngine(engine));
    }
  }

  private record CudaMachine(String name, CudaGpu.Mover mover) implements ComparedRun.Machine {
    @Override
    public DirectFabric fabric() {
      return new DirectFabric();
    }

    @Override
    public Gpu gpu(DirectFabric fabric, int rank) {
      return new CudaGpu(fabric, Locus.gpu(rank, 0), ordinal(name), mover);
    }
  }

  private static ComparedRun.Machine engine(Request request) {
    return switch (request.gpu()) {
      case "vm:order" ->
          new VirtualMachine(
              "its threads in another order",
              VmOptions.Engine.INTERPRETER,
              OptionalLong.of(request.seed() + ORDERS));
      default -> new VirtualMachine("its compiler", VmOptions.Engine.WARP, OptionalLong.empty());
    };
  }

  private static int ordinal(String gpu) {
    return Integer.parseInt(gpu.substring(CUDA.length()));
  }
}
