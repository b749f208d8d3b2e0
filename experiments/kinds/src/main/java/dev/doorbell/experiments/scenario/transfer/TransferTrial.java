package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.Verify;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.scenario.kernel.KernelMemory;
import dev.doorbell.experiments.scenario.kernel.KernelVerifier;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A transfer in one world: its ranks are connected, and one protocol runs at them once. */
final class TransferTrial implements Trial, AutoCloseable {
  private final TransferPlan plan;
  private final World world;
  private final Owned owned = new Owned();
  private final Connection connection;
  private final List<RankBuffers> ranks = new ArrayList<>();
  private final int iterations;
  private final int warmup;

  /** Connects the ranks of a world, which is closed with this trial, and lays out their buffers. */
  TransferTrial(TransferPlan plan, World world, long salt, int iterations, int warmup) {
    this.plan = plan;
    this.world = owned.add(world);
    this.iterations = iterations;
    this.warmup = warmup;
    this.connection = owned.add(plan.connect(world));
    for (int rank = 0; rank < plan.ranks(); rank++) {
      long own = rank < 2 ? rank : (long) rank << Integer.SIZE;
      ranks.add(
          owned.add(
              plan.buffers(
                  connection, world.rank(rank), rank == 0 ? salt : own, iterations, warmup)));
    }
  }

  World world() {
    return world;
  }

  Connection connection() {
    return connection;
  }

  RankBuffers sender() {
    return ranks.getFirst();
  }

  /** The ranks whose sending is timed, as far as their kernels have left stamps. */
  List<RankBuffers> senders() {
    return ranks.stream()
        .filter(rank -> plan.amongAll() || rank == sender())
        .filter(RankBuffers::stamped)
        .toList();
  }

  @Override
  public Fabric fabric() {
    return world.fabric();
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    List<Supplier<Launch>> starts = new ArrayList<>();
    LaunchConfig config = plan.launch();
    for (int rank = 0; rank < plan.launchedRanks(); rank++) {
      JobView job = plan.job(rank, iterations, warmup);
      RankBuffers own = ranks.get(rank);
      starts.add(
          plan.amongAll()
              ? own.prepareAmong(plan.protocol(), job, ranks, config)
              : own.prepare(plan.protocol(), job, ranks.get(1 - rank), config));
    }
    return starts;
  }

  @Override
  public @Nullable String firstError() {
    return Trial.first(ranks, RankBuffers::firstError);
  }

  private Verify verify() {
    return plan.protocol().descriptor().verify();
  }

  private KernelExtension extension() {
    return plan.protocol().descriptor().extension();
  }

  double[] samples(KernelMetric metric) {
    List<KernelMemory> launched =
        ranks.subList(0, plan.launchedRanks()).stream().map(RankBuffers::brought).toList();
    return KernelMemory.samples(metric, launched);
  }

  private KernelVerifier verifier() {
    return new KernelVerifier(
        plan.protocol().name(),
        plan.protocol().ptx(),
        ranks.stream().map(RankBuffers::brought).toList());
  }

  private List<RankBuffers> receivers() {
    if (verify() == Verify.OWN) {
      return List.of();
    }
    return verify().ofAll() || verify() == Verify.BOTH ? ranks.reversed() : ranks.subList(1, 2);
  }

  @Override
  public @Nullable String mismatch() {
    for (RankBuffers rank : receivers()) {
      String mismatch =
          verify().ofAll()
              ? rank.mismatch(ranks, verify())
              : rank.mismatch(rank == ranks.get(1) ? ranks.get(0) : ranks.get(1));
      if (mismatch != null) {
        return mismatch;
      }
    }
    return extension().isEmpty() ? null : verifier().mismatch();
  }

  @Override
  public long verifiedBytes() {
    long arrived = receivers().stream().mapToLong(RankBuffers::bytes).sum();
    return arrived + (extension().isEmpty() ? 0 : verifier().bytes());
  }

  @Override
  public void close() {
    owned.close();
  }
}
