package dev.doorbell.experiments.workbench.diff.run;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.scenario.foreign.ApiAdapter;
import dev.doorbell.experiments.scenario.kernel.KernelMemory;
import dev.doorbell.experiments.scenario.kernel.KernelScope;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.workbench.diff.KernelComparer.KernelTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/** Runs a kernel once in virtual time, between two ranks. */
final class TimedKernel {
  private static final int RANKS = 2;
  private static final int BYTES = 64;
  private static final int RING = 64;
  private static final int ITERATIONS = 8;
  private static final int MTU = 4096;

  private static final long PLENTY = 100_000_000L;

  private final Protocol protocol;
  private final KernelScope scope;
  private final LaunchConfig config;

  TimedKernel(UserKernel kernel) {
    protocol = Protocol.of(kernel);
    KernelDescriptor.Launch launch = protocol.descriptor().launch();
    KernelExtension extension = protocol.descriptor().extension();
    int threads = Math.max(1, launch.threads());
    scope =
        new KernelScope(
            extension,
            KernelScope.standard(extension),
            BYTES,
            RANKS,
            1,
            launch.blocks(),
            threads,
            ITERATIONS,
            0);
    config =
        new LaunchConfig(
            launch.blocks(),
            1,
            1,
            threads,
            1,
            1,
            launch.sharedBytes(),
            launch.cooperative(),
            PLENTY);
  }

  KernelTiming on(Topology topology) {
    KernelDescriptor descriptor = protocol.descriptor();
    boolean among = descriptor.launch().allRanks();
    Endpoint.Shape shape =
        Endpoint.Shape.builder(RING, PLENTY)
            .exclusive(!descriptor.launch().shared())
            .collapsed(descriptor.api().map(DeviceApi::collapsed).orElse(false))
            .build();
    try (World world = World.timed(topology, RANKS, MTU, 1, Trace.NONE);
        Connection connection =
            among
                ? Connection.mesh(world, RANKS, shape, Connection.Ringing.GPU)
                : Connection.open(world, shape, Connection.Ringing.GPU, 1);
        Owned open = new Owned()) {
      List<RankBuffers> ranks = new ArrayList<>();
      for (int rank = 0; rank < RANKS; rank++) {
        ranks.add(open.add(new RankBuffers(connection, world.rank(rank), buffers(), rank + 1L)));
      }
      int launched = descriptor.launch().ranks() == KernelDescriptor.Ranks.SENDER ? 1 : RANKS;
      List<Supplier<Launch>> prepared = new ArrayList<>();
      for (int rank = 0; rank < launched; rank++) {
        prepared.add(prepare(ranks, rank, among));
      }
      List<Launch> launches = prepared.stream().map(Supplier::get).toList();
      RunOutcome outcome =
          world.fabric().run(() -> launches.stream().allMatch(Launch::done), PLENTY);
      if (outcome != RunOutcome.DONE) {
        launches.forEach(launch -> launch.cancel("its virtual time was over"));
      }
      launches.forEach(Launch::check);
      for (RankBuffers rank : ranks.subList(0, launched)) {
        String error = rank.firstError();
        if (error != null) {
          return KernelTiming.failed(error);
        }
      }
      return timing(ranks, launched);
    } catch (GpuException e) {
      return KernelTiming.failed(String.valueOf(e.getMessage()));
    }
  }

  private RankBuffers.Buffers buffers() {
    KernelDescriptor descriptor = protocol.descriptor();
    int slots =
        switch (descriptor.launch().slots()) {
          case BLOCKS -> descriptor.launch().allRanks() ? RANKS : config.blocks();
          case THREADS -> config.blocks() * config.threadsPerBlock();
          case WINDOW -> 1;
        };
    RankBuffers.Buffers usual = RankBuffers.Buffers.of(BYTES, MemoryKind.DEVICE);
    return new RankBuffers.Buffers(
        BYTES,
        slots,
        0,
        usual.kind(),
        usual.rights(),
        descriptor.launch().signals(),
        scope,
        ApiAdapter.heapBytes(descriptor.api(), protocol.name(), protocol.ptx(), RANKS));
  }

  private Supplier<Launch> prepare(List<RankBuffers> ranks, int rank, boolean among) {
    JobView job = new JobView();
    job.role = rank;
    job.iterations = ITERATIONS;
    job.path = JobView.PATH_PULL;
    job.window = 1;
    return among
        ? ranks.get(rank).prepareAmong(protocol, job, ranks, config)
        : ranks.get(rank).prepare(protocol, job, ranks.get(1 - rank), config);
  }

  private KernelTiming timing(List<RankBuffers> ranks, int launched) {
    RankBuffers first = ranks.getFirst();
    OptionalDouble done = metric("my_done", ranks, launched);
    if (done.isEmpty()) {
      done =
          switch (protocol.descriptor().measures()) {
            case LATENCY -> median(Arrays.stream(first.samples()).asDoubleStream().toArray());
            case GOODPUT ->
                OptionalDouble.of((double) (first.ended() - first.started()) / ITERATIONS);
            case NOTHING -> OptionalDouble.empty();
          };
    }
    return new KernelTiming(metric("my_issue", ranks, launched), done, Optional.empty());
  }

  private OptionalDouble metric(String name, List<RankBuffers> ranks, int launched) {
    for (KernelMetric metric : protocol.descriptor().extension().metrics()) {
      if (metric.name().equals(name)) {
        List<KernelMemory> memories =
            ranks.subList(0, launched).stream().map(RankBuffers::brought).toList();
        return median(KernelMemory.samples(metric, memories));
      }
    }
    return OptionalDouble.empty();
  }

  private static OptionalDouble median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of((sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2);
  }
}
