package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.kind.WorldTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Flows between ranks of one world, all at once: a kernel each, which posts its messages to a queue
 * pair of its own. Every byte that arrives is compared.
 */
public final class FlowTrial extends WorldTrial {
  private static final String KERNEL = "put_bandwidth";

  private final Shape shape;
  private final long seed;
  private final List<Flow> flows = new ArrayList<>();

  /**
   * Shape of all flows; sizes are of a message, counts of a flow, and kernels are stopped after
   * {@code nanos}.
   */
  public record Shape(
      int ranks,
      int size,
      int messages,
      int window,
      TransferPath path,
      Endpoint.Shape endpoint,
      long nanos) {}

  /** Messages of one rank to another, over a queue pair of each. */
  public static final class Flow {
    final RankBuffers from;
    private final RankBuffers to;
    private final Endpoint receiver;
    private long executed;

    Flow(RankBuffers from, RankBuffers to, Endpoint receiver, World world) {
      this.from = from;
      this.to = to;
      this.receiver = receiver;
      to.expect(from, world.fabric());
    }

    /** Nanoseconds from the first post to the last completion. */
    public long nanos() {
      return from.ended() - from.started();
    }

    /** Messages that have arrived so far. */
    public long arrived() {
      ExecutedRequests requests = receiver.queuePair().executed();
      if (requests != null) {
        executed = requests.since(executed);
      }
      return executed;
    }
  }

  /** Flows of {@code world}, which the trial closes. */
  public FlowTrial(World world, Shape shape, long seed) {
    super(world);
    this.shape = shape;
    this.seed = seed;
  }

  /** Adds a flow each way, over one connection. */
  public void both(int one, int other) {
    Connection connection = own(Connection.between(world, one, other, shape.endpoint));
    RankBuffers first = buffers(connection, one, other);
    RankBuffers second = buffers(connection, other, one);
    flows.add(new Flow(first, second, connection.endpoints(other).getFirst(), world));
    flows.add(new Flow(second, first, connection.endpoints(one).getFirst(), world));
  }

  public void flow(int from, int to) {
    Connection connection = own(Connection.between(world, from, to, shape.endpoint));
    flows.add(
        new Flow(
            buffers(connection, from, to),
            buffers(connection, to, from),
            connection.endpoints(to).getFirst(),
            world));
  }

  /** In the order in which they were added. */
  public List<Flow> flows() {
    return flows;
  }

  private RankBuffers buffers(Connection connection, int from, int to) {
    long salt = (long) from * shape.ranks + to;
    return own(new RankBuffers(connection, world.rank(from), shape.size, seed ^ salt));
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    Protocol protocol = Protocol.ofCatalogue(KERNEL);
    LaunchConfig config = LaunchConfig.of(1, 1).withTimeout(shape.nanos);
    return flows.stream().map(flow -> flow.from.prepare(protocol, job(), flow.to, config)).toList();
  }

  private JobView job() {
    JobView job = new JobView();
    job.iterations = shape.messages;
    job.path = shape.path.jobPath();
    job.scope = JobView.SCOPE_BLOCK;
    job.window = shape.window;
    return job;
  }

  @Override
  public @Nullable String firstError() {
    return Trial.first(flows, flow -> flow.from.firstError());
  }

  @Override
  public @Nullable String mismatch() {
    return Trial.first(flows, flow -> flow.to.mismatch(flow.from));
  }

  @Override
  public long verifiedBytes() {
    return flows.stream().mapToLong(flow -> flow.to.compared()).sum();
  }

  /** From the first post of any rank to the last completion. */
  public long nanos() {
    long first = flows.stream().mapToLong(flow -> flow.from.started()).min().orElseThrow();
    long last = flows.stream().mapToLong(flow -> flow.from.ended()).max().orElseThrow();
    return last - first;
  }
}
