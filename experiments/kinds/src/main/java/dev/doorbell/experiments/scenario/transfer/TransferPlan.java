package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.scenario.kernel.KernelScope;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.ProtocolTrial;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.EnumSet;
import java.util.Set;

/** The queue pairs, buffers, launches and jobs of a transfer by one protocol. */
record TransferPlan(TransferSettings of, Protocol protocol, long kernelNanos, long deadlineNanos) {
  private static final int FEWEST_MESSAGES = 4;
  private static final long GOODPUT_BYTES = 2L << 20;

  private KernelDescriptor.Launch descriptor() {
    return protocol.descriptor().launch();
  }

  boolean amongAll() {
    return descriptor().allRanks();
  }

  private boolean streams() {
    return protocol.descriptor().measures() == KernelDescriptor.Measures.GOODPUT;
  }

  int ranks() {
    return amongAll() ? of.ranks() : 2;
  }

  Endpoint.Shape endpoint() {
    return Endpoint.Shape.builder(of.queues().depth(), deadlineNanos)
        .placement(of.placement())
        .blueFlame(of.path().blueFlame())
        .exclusive(!descriptor().shared())
        .order(of.signal().on(of.queues().nic().adapter().promises()))
        .build();
  }

  /**
   * Lays out the ranks of a world, which is closed with the trial.
   *
   * @param salt tells the payload of rank 0 from others of the point
   * @param iterations that the kernel measures, after {@code warmup} others
   */
  ProtocolTrial trial(World world, long salt, int iterations, int warmup) {
    return new ProtocolTrial(
        protocol,
        world,
        new ProtocolTrial.Shape(ranks(), endpoint(), of.ringing(), of.qps(), launch()),
        (connection, rank) -> {
          RankBuffers.Buffers shape =
              protocol.buffers(
                  protocol.slots(ranks(), launch(), of.window()),
                  of.offset(),
                  payload(rank),
                  rights(),
                  scope(iterations, warmup));
          long own = rank.number() < 2 ? rank.number() : (long) rank.number() << Integer.SIZE;
          long seed = of.point().seed() ^ (rank.number() == 0 ? salt : own);
          RankBuffers buffers = new RankBuffers(connection, rank, shape, seed);
          buffers.stage(of.path(), TransferSettings.STAGING_BYTES);
          return buffers;
        },
        role -> job(role, iterations, warmup));
  }

  KernelScope scope(int iterations, int warmup) {
    KernelExtension extension = protocol.descriptor().extension();
    LaunchConfig config = launch();
    return new KernelScope(
        extension,
        KernelScope.settings(extension, of.point()),
        of.size(),
        ranks(),
        streams() ? of.window() : 1,
        config.blocks(),
        config.threadsPerBlock(),
        iterations,
        warmup);
  }

  /** A rank without GPU memory that its HCA reaches has its payload in host memory. */
  private MemoryKind payload(Rank rank) {
    return of.payload() == MemoryKind.DEVICE ? rank.payload() : of.payload();
  }

  private Set<AccessRight> rights() {
    Set<AccessRight> rights = EnumSet.copyOf(Endpoint.ALL_RIGHTS);
    if (of.relaxed()) {
      rights.add(AccessRight.RELAXED_ORDERING);
    }
    return rights;
  }

  /**
   * Blocks of the kernel: one for each queue pair where a protocol of Doorbell's own streams, whose
   * block b posts to queue pair b; what the descriptor says for all others.
   */
  int blocks() {
    return protocol.own() && streams() ? descriptor().blocks() * of.qps() : descriptor().blocks();
  }

  LaunchConfig launch() {
    int threads = descriptor().threads() == 0 ? of.threadsOfBlock() : descriptor().threads();
    return protocol.grid(blocks(), threads, kernelNanos);
  }

  JobView job(int role, long iterations, long warmup) {
    JobView job = new JobView();
    job.role = role;
    job.iterations = iterations;
    job.warmup = warmup;
    job.path = of.path().jobPath();
    job.scope = of.byWarp() ? JobView.SCOPE_WARP : JobView.SCOPE_BLOCK;
    job.chunkBytes = of.slotBytes();
    job.window = streams() || descriptor().windowSlots() ? of.window() : 1;
    return job;
  }

  /** Messages of a block: enough for a steady state, few enough to stay short, every slot used. */
  int messages() {
    long budget = GOODPUT_BYTES / of.size() / blocks();
    long least = Math.max(FEWEST_MESSAGES, descriptor().windowSlots() ? of.window() : 0);
    return (int) Math.max(least, Math.min(4L * of.window(), budget));
  }

  /**
   * Messages of all ranks that are counted, for each iteration of the kernel: of one that verifies
   * its own buffers among all ranks, one at each.
   */
  int messagesPerIteration() {
    if (!amongAll()) {
      return blocks();
    }
    KernelDescriptor.Verify verify = protocol.descriptor().verify();
    return verify == KernelDescriptor.Verify.OWN ? ranks() : verify.messages(ranks());
  }
}
