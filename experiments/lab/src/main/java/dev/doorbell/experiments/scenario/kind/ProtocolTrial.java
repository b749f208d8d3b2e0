package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.Verify;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.scenario.kernel.KernelMemory;
import dev.doorbell.experiments.scenario.kernel.KernelVerifier;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A protocol at the ranks of a world: connected queue pairs, a rank's buffers each, the launches
 * that its descriptor asks for, and the comparison of what has arrived.
 */
public class ProtocolTrial extends WorldTrial {
  private final Protocol protocol;
  private final Shape shape;
  private final IntFunction<JobView> jobs;
  private final Connection connection;
  private final List<RankBuffers> ranks = new ArrayList<>();

  /**
   * Shape of a trial.
   *
   * @param queuePairs between two ranks, where the protocol runs at two
   */
  public record Shape(
      int ranks,
      Endpoint.Shape endpoint,
      Connection.Ringing ringing,
      int queuePairs,
      LaunchConfig grid) {}

  /**
   * Connects the ranks and lays out their buffers.
   *
   * @param world is closed with this trial
   * @param buffers lays out those of a rank
   * @param jobs of the ranks, but for addresses and keys
   */
  @SuppressWarnings("this-escape") // own() is final and keeps its argument alone
  public ProtocolTrial(
      Protocol protocol,
      World world,
      Shape shape,
      BiFunction<Connection, Rank, RankBuffers> buffers,
      IntFunction<JobView> jobs) {
    super(world);
    this.protocol = protocol;
    this.shape = shape;
    this.jobs = jobs;
    this.connection =
        own(
            amongAll()
                ? Connection.mesh(world, shape.ranks, shape.endpoint, shape.ringing)
                : Connection.open(world, shape.endpoint, shape.ringing, shape.queuePairs));
    for (int rank = 0; rank < shape.ranks; rank++) {
      ranks.add(own(buffers.apply(connection, world.rank(rank))));
    }
  }

  private boolean amongAll() {
    return protocol.descriptor().launch().allRanks();
  }

  private Verify verify() {
    return protocol.descriptor().verify();
  }

  private KernelExtension extension() {
    return protocol.descriptor().extension();
  }

  public final Shape shape() {
    return shape;
  }

  public final Connection connection() {
    return connection;
  }

  public final RankBuffers rank(int number) {
    return ranks.get(number);
  }

  /** The ranks whose sending is timed, as far as their kernels have left stamps. */
  public final List<RankBuffers> senders() {
    return ranks.subList(0, amongAll() ? ranks.size() : 1).stream()
        .filter(RankBuffers::stamped)
        .toList();
  }

  @Override
  public final List<Supplier<Launch>> prepare() {
    List<Supplier<Launch>> starts = new ArrayList<>();
    for (int rank = 0; rank < protocol.launchedRanks(shape.ranks); rank++) {
      starts.add(prepare(rank, jobs.apply(rank)));
    }
    return starts;
  }

  protected Supplier<Launch> prepare(int rank, JobView job) {
    RankBuffers own = ranks.get(rank);
    return amongAll()
        ? own.prepareAmong(protocol, job, ranks, shape.grid)
        : own.prepare(protocol, job, ranks.get(1 - rank), shape.grid);
  }

  @Override
  public final @Nullable String firstError() {
    return Trial.first(ranks, RankBuffers::firstError);
  }

  public final double[] samples(KernelMetric metric) {
    return KernelMemory.samples(metric, brought(protocol.launchedRanks(shape.ranks)));
  }

  private List<KernelMemory> brought(int count) {
    return ranks.subList(0, count).stream().map(RankBuffers::brought).toList();
  }

  private KernelVerifier verifier() {
    return new KernelVerifier(protocol.name(), protocol.ptx(), brought(shape.ranks));
  }

  private List<RankBuffers> receivers() {
    if (verify() == Verify.OWN) {
      return List.of();
    }
    return verify().ofAll() || verify() == Verify.BOTH ? ranks.reversed() : ranks.subList(1, 2);
  }

  @Override
  public final @Nullable String mismatch() {
    String mismatch =
        Trial.first(
            receivers(),
            rank ->
                verify().ofAll()
                    ? rank.mismatch(ranks, verify())
                    : rank.mismatch(ranks.get(rank == ranks.get(1) ? 0 : 1)));
    return mismatch != null || extension().isEmpty() ? mismatch : verifier().mismatch();
  }

  @Override
  public final long verifiedBytes() {
    long arrived = receivers().stream().mapToLong(RankBuffers::bytes).sum();
    return arrived + (extension().isEmpty() ? 0 : verifier().bytes());
  }
}
