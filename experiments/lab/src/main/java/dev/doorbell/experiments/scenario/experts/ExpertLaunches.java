package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Launches of one module's kernels at all ranks of a world: cooperative grids, side by side. */
final class ExpertLaunches {
  /** How long the fabric runs between two looks at the caller's wish to stop. */
  private static final long SLICE_NANOS = 50_000_000;

  private final World world;
  private final long timeoutNanos;
  private final Owned owned;
  private final List<GpuModule> modules = new ArrayList<>();

  /**
   * Loads the module at each rank.
   *
   * @param file of the PTX, for messages
   * @param timeoutNanos of a kernel, on the fabric's clock
   * @param owned closes modules and streams
   */
  ExpertLaunches(World world, int ranks, String file, String ptx, long timeoutNanos, Owned owned) {
    this.world = world;
    this.timeoutNanos = timeoutNanos;
    this.owned = owned;
    for (int number = 0; number < ranks; number++) {
      modules.add(owned.add(world.rank(number).gpu().load(file, ptx)));
    }
  }

  GpuModule module(int rank) {
    return modules.get(rank);
  }

  /**
   * A kernel at all ranks.
   *
   * @param entry a part of its mangled name
   * @param arguments of a rank
   * @param wrong what it left at a rank otherwise than it should have, or null
   */
  record Job(
      String name,
      String entry,
      int blocks,
      int threads,
      int shared,
      IntFunction<KernelArguments> arguments,
      IntFunction<@Nullable String> wrong) {}

  /** Runs a kernel to its end, and compares what it left. */
  Exchange.Phase run(Job job, BooleanSupplier stop) {
    LaunchConfig config =
        LaunchConfig.of(job.blocks, job.threads)
            .withSharedBytes(job.shared)
            .withTimeout(timeoutNanos)
            .asCooperative();
    long start = world.fabric().now();
    List<Launch> launches = new ArrayList<>();
    for (int number = 0; number < modules.size(); number++) {
      Rank rank = world.rank(number);
      GpuModule module = modules.get(number);
      GpuStream stream = owned.add(rank.gpu().createStream());
      launches.add(
          rank.gpu()
              .launch(
                  module.kernel(find(module, job.entry)),
                  config,
                  job.arguments.apply(number),
                  stream));
    }
    await(launches, stop);
    long nanos = world.fabric().now() - start;
    world.fabric().quiesce();
    String found = null;
    for (int number = 0; found == null && number < modules.size(); number++) {
      String here = job.wrong.apply(number);
      found = here == null ? null : "rank %d, %s".formatted(number, here);
    }
    return new Exchange.Phase(
        job.name, nanos, launches.stream().mapToLong(Launch::instructions).sum(), found);
  }

  private void await(List<Launch> launches, BooleanSupplier stop) {
    BooleanSupplier done = () -> launches.stream().allMatch(Launch::done);
    RunOutcome outcome = RunOutcome.DEADLINE;
    while (!done.getAsBoolean() && outcome != RunOutcome.STALLED) {
      outcome = world.fabric().run(done, SLICE_NANOS);
      checkEnded(launches);
      if (stop.getAsBoolean()) {
        launches.forEach(launch -> launch.cancel("interrupted"));
      }
    }
    if (!done.getAsBoolean()) {
      launches.forEach(launch -> launch.cancel("no thread can go on"));
    }
    launches.forEach(Launch::check);
  }

  /** Stops all where one was stopped: the others would wait for it until their deadline. */
  private static void checkEnded(List<Launch> launches) {
    try {
      launches.stream().filter(Launch::done).forEach(Launch::check);
    } catch (GpuException e) {
      launches.forEach(launch -> launch.cancel("another rank was stopped"));
      throw e;
    }
  }

  /** The entry whose mangled name has {@code part}. */
  private static String find(GpuModule module, String part) {
    return module.entries().stream()
        .filter(name -> name.contains(part))
        .findFirst()
        .orElseThrow(
            () ->
                new GpuException(
                    "%s has no entry with %s in its name; it has %s"
                        .formatted(module.name(), part, String.join(", ", module.entries()))));
  }
}
