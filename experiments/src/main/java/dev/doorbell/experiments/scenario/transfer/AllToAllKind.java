package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Each rank's GPU runs a kernel for each other rank, all at once in virtual time, and each kernel
 * posts its messages to a queue pair of its own. Every byte at every rank is compared. A sample is
 * a world of its own with another order of what happens at the same time.
 */
public final class AllToAllKind extends ExperimentKind<AllToAllKind.Settings> {
  private static final String DISPATCH = "dispatch";
  private static final String GOODPUT = "goodput";
  private static final String KERNEL = "put_bandwidth";
  private static final Set<TransferPath> PATHS =
      Set.of(
          TransferPath.PULL, TransferPath.PULL_BF, TransferPath.PUSH_INLINE, TransferPath.PUSH_BF);
  private static final int MOST_INLINE = 220;
  private static final int MOST_BYTES = 1 << 20;
  private static final long NANOS_A_POINT = 200_000_000L;
  private static final long NANOS_A_MESSAGE = 1_500_000;
  private static final long KERNEL_NANOS = 1_000_000_000L;
  private static final long DEADLINE_NANOS = 500_000_000L;

  /**
   * Settings of a point.
   *
   * @param size bytes of a message
   * @param messages from each rank to each other one
   * @param window messages of a kernel in flight
   */
  record Settings(
      Point point,
      int size,
      TransferPath path,
      int ranks,
      int messages,
      QueueSettings queues,
      int window) {
    Endpoint.Shape endpoint() {
      return Endpoint.Shape.builder(queues.depth(), DEADLINE_NANOS)
          .placement(queues.placement())
          .blueFlame(path.blueFlame())
          .exclusive(true)
          .build();
    }
  }

  public AllToAllKind() {
    super("metrics: [dispatch]", "DB-P029", Settings.class, DISPATCH, GOODPUT);
  }

  @Override
  public boolean applies(Point point) {
    return point.metrics().contains(DISPATCH);
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checks.refuseIf(
        !of.point.kernels().equals(List.of(KERNEL)),
        "an all-to-all is posted by one kernel",
        "kernel: " + KERNEL);
    checks.refuseIf(
        !PATHS.contains(of.path),
        "path %s in an all-to-all".formatted(of.path.word()),
        "ranks have neither a staging area nor a proxy for each peer",
        "use pull, pull.bf, push.inline or push.bf");
    checks.refuseIf(
        of.size > MOST_BYTES || (of.path.word().startsWith("push") && of.size > MOST_INLINE),
        "a message of %d bytes by %s".formatted(of.size, of.path.word()),
        "use at most 1 MiB, and 220 bytes inline");
  }

  @Override
  protected Prediction predict(Settings of, Topology topology) {
    return new Prediction(
        List.of(
            new Prediction.Term(
                GOODPUT,
                topology.network().bytesPerNano() * of.ranks,
                "GB/s",
                "n C, the ports of all ranks",
                true)));
  }

  @Override
  protected long estimateNanos(Settings of) {
    long ranks = of.ranks;
    return NANOS_A_POINT + NANOS_A_MESSAGE * ranks * (ranks - 1) * of.messages * of.point.samples();
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.waived(
          "DB-P029",
          "an all-to-all of kernels runs in virtual time",
          "use clock: virtual; doorbell hca alltoall runs one of processes");
    }
    Settings of = run.settings();
    double[] nanos = new double[run.point().samples()];
    double[] rates = new double[nanos.length];
    for (int sample = 0; sample < nanos.length; sample++) {
      try (Exchange exchange = new Exchange(run, sample)) {
        nanos[sample] = run.perform(exchange, KERNEL_NANOS).nanos();
      }
      rates[sample] = (double) of.ranks * (of.ranks - 1) * of.messages * of.size / nanos[sample];
    }
    for (String metric : run.point().metrics()) {
      run.add(
          metric.equals(DISPATCH)
              ? Samples.of(metric, "ns", nanos)
              : Samples.of(metric, "GB/s", rates));
    }
  }

  /** One world in which all ranks send at once. */
  private static final class Exchange implements Trial, AutoCloseable {
    /** Messages of one rank to another. */
    private record Flow(RankBuffers from, RankBuffers to) {}

    private final Settings of;
    private final Owned open = new Owned();
    private final World world;
    private final List<Flow> flows = new ArrayList<>();

    Exchange(PointRun<Settings> run, int sample) {
      of = run.settings();
      world =
          open.add(
              run.world()
                  .ranks(of.ranks)
                  .mtu(of.queues.mtu())
                  .seed(run.point().seed() + sample)
                  .open());
      for (int one = 0; one < of.ranks; one++) {
        for (int other = one + 1; other < of.ranks; other++) {
          Connection connection = open.add(Connection.between(world, one, other, of.endpoint()));
          RankBuffers first = buffers(connection, one, other);
          RankBuffers second = buffers(connection, other, one);
          flows.add(new Flow(first, second));
          flows.add(new Flow(second, first));
        }
      }
    }

    private RankBuffers buffers(Connection connection, int from, int to) {
      long salt = (long) from * of.ranks + to;
      return open.add(
          new RankBuffers(connection, world.rank(from), of.size, of.point.seed() ^ salt));
    }

    @Override
    public Fabric fabric() {
      return world.fabric();
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      Protocol protocol = Protocol.ofCatalogue(KERNEL);
      LaunchConfig config = LaunchConfig.of(1, 1).withTimeout(KERNEL_NANOS);
      return flows.stream()
          .map(flow -> flow.from.prepare(protocol, job(), flow.to, config))
          .toList();
    }

    private JobView job() {
      JobView job = new JobView();
      job.iterations = of.messages;
      job.path = of.path.jobPath();
      job.scope = JobView.SCOPE_BLOCK;
      job.window = of.window;
      return job;
    }

    @Override
    public @Nullable String firstError() {
      for (Flow flow : flows) {
        String error = flow.from.firstError();
        if (error != null) {
          return error;
        }
      }
      return null;
    }

    @Override
    public @Nullable String mismatch() {
      for (Flow flow : flows) {
        String mismatch = flow.to.mismatch(flow.from);
        if (mismatch != null) {
          return mismatch;
        }
      }
      return null;
    }

    @Override
    public long verifiedBytes() {
      return flows.stream().mapToLong(flow -> flow.to.bytes()).sum();
    }

    /** From the first post of any rank to the last completion. */
    long nanos() {
      long first = flows.stream().mapToLong(flow -> flow.from.started()).min().orElseThrow();
      long last = flows.stream().mapToLong(flow -> flow.from.ended()).max().orElseThrow();
      return last - first;
    }

    @Override
    public void close() {
      open.close();
    }
  }
}
