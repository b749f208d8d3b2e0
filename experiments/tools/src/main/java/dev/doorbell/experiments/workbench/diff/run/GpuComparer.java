package dev.doorbell.experiments.workbench.diff.run;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.cuda.CudaProbe;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.KernelComparison;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.workbench.diff.KernelComparer;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/** Compares a real GPU with the virtual machine, or the virtual machine's engines. */
public final class GpuComparer implements KernelComparer {
  private static final List<String> KERNELS =
      List.of("put_latency", "put_bandwidth", "put_rate", "post_once", "operations", "restartable");

  private static final String CUDA = "cuda:";
  private static final long RUN_STEP = 0x9e37_79b9_7f4a_7c15L;

  /** Orders of threads in which a kernel that differs is run once more. */
  private static final int ORDERS = 3;

  /** For the service loader. */
  public GpuComparer() {}

  @Override
  public List<String> kernels() {
    return KERNELS;
  }

  @Override
  public Comparison compare(Request request) throws EnvironmentException {
    ComparedRun.Machine reference =
        new VirtualMachine("the interpreter", VmOptions.Engine.INTERPRETER, OptionalLong.empty());
    boolean real = request.gpu().startsWith(CUDA);
    String between =
        real
            ? "the PTX VM and %s".formatted(require(request.gpu()))
            : "the PTX VM's interpreter and %s".formatted(engine(request).name());
    for (int number = request.first();
        number < request.first() + request.runs() && !request.interrupted().getAsBoolean();
        number++) {
      ComparedRun run = compared(request, request.seed() + number * RUN_STEP);
      Run heard = run(number, run, reference, request);
      request.listener().accept(heard);
      if (heard.failed()) {
        // It would fail again, each time at its deadline; and a GPU that is busy with it is lost.
        break;
      }
    }
    return new Comparison(between, chance(request));
  }

  @Override
  public Run runAlone(Request request) {
    ComparedRun run = compared(request, request.seed() + request.first() * RUN_STEP);
    List<String> failures = new ArrayList<>();
    VmOptions.Engine engine = VmOptions.defaults().engine();
    SequencedMap<String, byte[]> left =
        attempt(
            run, new VirtualMachine("the PTX VM", engine, OptionalLong.empty()), request, failures);
    return new Run(request.first(), run.parameters(), bytes(left), !failures.isEmpty(), failures);
  }

  private static long bytes(SequencedMap<String, byte[]> contents) {
    return contents.values().stream().mapToLong(bytes -> bytes.length).sum();
  }

  private static ComparedRun compared(Request request, long seed) {
    return new ComparedRun(
        ComparedCase.random(protocol(request), new SplittableRandom(seed)), seed);
  }

  private static Protocol protocol(Request request) {
    return request.own().map(Protocol::of).orElseGet(() -> Protocol.ofCatalogue(request.kernel()));
  }

  private static Run run(
      int number, ComparedRun first, ComparedRun.Machine reference, Request request) {
    ComparedRun run = first;
    List<String> failures = new ArrayList<>();
    SequencedMap<String, byte[]> expected = attempt(run, reference, request, failures);
    for (ComparedRun larger = run.roomier(expected);
        larger != null;
        larger = run.roomier(expected)) {
      run = larger;
      expected = attempt(run, reference, request, failures);
    }
    ComparedRun.Machine other =
        request.gpu().startsWith(CUDA)
            ? new CudaMachine(request.gpu(), run.mover())
            : engine(request);
    SequencedMap<String, byte[]> actual = attempt(run, other, request, failures);
    if (!failures.isEmpty()) {
      return new Run(number, run.parameters(), 0, true, failures);
    }
    List<String> differences =
        new ArrayList<>(run.compare(reference.name(), expected, other.name(), actual));
    if (!differences.isEmpty()) {
      differences.add(explain(run, reference.name(), expected, request));
    }
    return new Run(number, run.parameters(), bytes(expected), false, differences);
  }

  /** Checks whether the kernel itself leaves this or that, by the order in which its threads go. */
  private static String explain(
      ComparedRun run, String reference, SequencedMap<String, byte[]> expected, Request request) {
    for (int order = 1; order <= ORDERS; order++) {
      ComparedRun.Machine machine =
          new VirtualMachine(
              "order " + order, VmOptions.Engine.INTERPRETER, OptionalLong.of(order));
      List<String> failures = new ArrayList<>();
      SequencedMap<String, byte[]> again = attempt(run, machine, request, failures);
      if (!failures.isEmpty()
          || !run.compare(reference, expected, machine.name(), again).isEmpty()) {
        return "the interpreter alone leaves this or that, by the order in which threads and HCAs"
            + " go: a race, or chance that the descriptor does not tell (compare: in"
            + " docs/kernels-ranks-gpus.md)";
      }
    }
    return "the interpreter leaves the same in %d orders of threads and HCAs".formatted(ORDERS + 1);
  }

  private static SequencedMap<String, byte[]> attempt(
      ComparedRun run, ComparedRun.Machine machine, Request request, List<String> failures) {
    try {
      return run.on(machine, request.nanos());
    } catch (GpuException e) {
      failures.add("%s: %s".formatted(machine.name(), e.getMessage()));
      return new LinkedHashMap<>();
    }
  }

  private static List<String> chance(Request request) {
    List<String> chance = new ArrayList<>();
    KernelComparison comparison = protocol(request).descriptor().comparison();
    switch (comparison.posts()) {
      case ORDERED -> {}
      case UNORDERED -> chance.add("the order of posts, where several threads post");
      case ANY -> chance.add("send and completion rings, but for errors: how many posts there are");
    }
    for (KernelComparison.Chance place : comparison.chance()) {
      chance.add(
          "%s%s%s: %s"
              .formatted(
                  place.memory(),
                  place.rank() == KernelComparison.Chance.EACH_RANK
                      ? ""
                      : " of rank " + place.rank(),
                  extent(place),
                  place.why()));
    }
    return chance;
  }

  private static String extent(KernelComparison.Chance place) {
    if (place.bytes() == Long.MAX_VALUE) {
      return place.from() == 0 ? "" : ", from byte %d".formatted(place.from());
    }
    return ", %d bytes from byte %d".formatted(place.bytes(), place.from());
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
