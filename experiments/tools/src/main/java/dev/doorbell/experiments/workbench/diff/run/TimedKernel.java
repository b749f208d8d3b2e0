package dev.doorbell.experiments.workbench.diff.run;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.scenario.kernel.KernelScope;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.ProtocolTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.workbench.diff.KernelComparer.KernelTiming;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;

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
    config = protocol.grid(launch.blocks(), threads, PLENTY);
  }

  KernelTiming on(Topology topology) {
    KernelDescriptor descriptor = protocol.descriptor();
    ProtocolTrial.Shape shape =
        new ProtocolTrial.Shape(
            RANKS,
            Endpoint.Shape.builder(RING, PLENTY)
                .exclusive(!descriptor.launch().shared())
                .collapsed(protocol.collapsed(false))
                .build(),
            Connection.Ringing.GPU,
            1,
            config);
    World world = World.timed(topology, RANKS, MTU, 1, Trace.NONE);
    try (ProtocolTrial trial =
        new ProtocolTrial(protocol, world, shape, this::buffers, TimedKernel::job)) {
      trial.run(PLENTY, "its virtual time was over");
      String error = trial.firstError();
      return error == null ? timing(trial) : KernelTiming.failed(error);
    } catch (GpuException e) {
      return KernelTiming.failed(String.valueOf(e.getMessage()));
    }
  }

  private RankBuffers buffers(Connection connection, Rank rank) {
    int slots = protocol.slots(RANKS, config, 1);
    RankBuffers.Buffers shape = protocol.buffers(slots, MemoryKind.DEVICE, scope);
    return new RankBuffers(connection, rank, shape, rank.number() + 1L);
  }

  private static JobView job(int rank) {
    JobView job = new JobView();
    job.role = rank;
    job.iterations = ITERATIONS;
    job.path = JobView.PATH_PULL;
    job.window = 1;
    return job;
  }

  private KernelTiming timing(ProtocolTrial trial) {
    RankBuffers first = trial.rank(0);
    OptionalDouble done = metric("my_done", trial);
    if (done.isEmpty()) {
      done =
          switch (protocol.descriptor().measures()) {
            case LATENCY -> median(Arrays.stream(first.samples()).asDoubleStream().toArray());
            case GOODPUT ->
                OptionalDouble.of((double) (first.ended() - first.started()) / ITERATIONS);
            case NOTHING -> OptionalDouble.empty();
          };
    }
    return new KernelTiming(metric("my_issue", trial), done, Optional.empty());
  }

  private OptionalDouble metric(String name, ProtocolTrial trial) {
    return protocol.descriptor().extension().metrics().stream()
        .filter(metric -> metric.name().equals(name))
        .findFirst()
        .map(metric -> median(trial.samples(metric)))
        .orElse(OptionalDouble.empty());
  }

  private static OptionalDouble median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of((sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2);
  }
}
