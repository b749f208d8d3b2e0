package dev.doorbell.experiments.workbench.kernel.run;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelOutcome;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelRun;
import dev.doorbell.ptxvm.launch.VmGpu;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

final class VmRun {
  /** Nanoseconds that the fabric runs between two looks at Ctrl-C. */
  private static final long SLICE_NANOS = 50_000_000;

  private final KernelRun run;
  private final BooleanSupplier interrupted;
  private final Observer observer;

  VmRun(KernelRun run, BooleanSupplier interrupted) {
    this.run = run;
    this.interrupted = interrupted;
    this.observer = new Observer(run);
  }

  KernelOutcome execute() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), run.seed());
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0))) {
      if (run.profile() || run.trace().isPresent()) {
        gpu.observe(observer);
      }
      List<List<Memory>> memories = new ArrayList<>();
      KernelArguments arguments = new KernelArguments();
      for (int i = 0; i < run.arguments().size(); i++) {
        memories.add(bind(gpu, i, run.arguments().get(i), arguments));
      }
      GpuModule module = gpu.load(run.file(), run.ptx());
      long start = System.nanoTime();
      Launch launch =
          gpu.launch(module.kernel(run.entry()), config(), arguments, gpu.createStream());
      boolean stopped = await(fabric, launch);
      long nanos = System.nanoTime() - start;
      return outcome(launch, stopped, nanos, memories);
    } catch (GpuException e) {
      return new KernelOutcome(
          Optional.of(String.valueOf(e.getMessage())),
          false,
          "",
          0,
          0,
          List.of(),
          List.of(),
          List.of());
    }
  }

  private static List<Memory> bind(
      VmGpu gpu, int index, KernelRun.Argument argument, KernelArguments arguments) {
    String label = "argument %d (%s)".formatted(index + 1, argument.text());
    return switch (argument) {
      case KernelRun.Argument.Scalar scalar -> {
        arguments.add(scalar.bytes());
        yield List.of();
      }
      case KernelRun.Argument.Buffer buffer -> {
        Memory memory = allocate(gpu, buffer.initial(), label);
        arguments.add(memory);
        yield List.of(memory);
      }
      case KernelRun.Argument.Multicast multicast -> {
        List<Memory> members =
            multicast.members().stream().map(initial -> allocate(gpu, initial, label)).toList();
        arguments.add(gpu.multicast(members, label).address());
        yield members;
      }
    };
  }

  private static Memory allocate(VmGpu gpu, byte[] initial, String label) {
    Memory memory = gpu.allocate(MemoryKind.DEVICE, initial.length, label);
    memory.putBytes(0, initial);
    return memory;
  }

  private LaunchConfig config() {
    return new LaunchConfig(
        run.grid().x(),
        run.grid().y(),
        run.grid().z(),
        run.block().x(),
        run.block().y(),
        run.block().z(),
        run.sharedBytes(),
        run.cooperative(),
        run.timeoutNanos());
  }

  private boolean await(DirectFabric fabric, Launch launch) {
    while (!launch.done()) {
      RunOutcome outcome = fabric.run(launch::done, SLICE_NANOS);
      if (interrupted.getAsBoolean()) {
        launch.cancel("interrupted");
        return true;
      }
      if (outcome == RunOutcome.STALLED && !launch.done()) {
        launch.cancel("no thread can go on");
      }
    }
    return false;
  }

  private KernelOutcome outcome(
      Launch launch, boolean stopped, long nanos, List<List<Memory>> memories) {
    Optional<String> failure = Optional.empty();
    try {
      launch.check();
    } catch (GpuException e) {
      failure = Optional.of(String.valueOf(e.getMessage()).replaceAll("(?<=\\S)[ \t]+", " "));
    }
    List<Optional<byte[]>> buffers = new ArrayList<>();
    for (List<Memory> memory : memories) {
      buffers.add(memory.isEmpty() ? Optional.empty() : Optional.of(content(memory)));
    }
    return new KernelOutcome(
        failure,
        stopped,
        launch.output(),
        launch.instructions(),
        nanos,
        buffers,
        observer.opcodes(),
        observer.lines());
  }

  private static byte[] content(List<Memory> memories) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    memories.forEach(
        memory -> content.writeBytes(memory.getBytes(0, Math.toIntExact(memory.size()))));
    return content.toByteArray();
  }
}
