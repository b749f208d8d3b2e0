package dev.doorbell.experiments.scenario.congestion;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.transfer.FlowTrial;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.push.network.SwitchedNetwork;
import java.util.List;
import java.util.Set;

/**
 * Flows that meet in switches: each is a kernel that puts as fast as its window, its HCA and the
 * network allow. Queues and rates are sampled while all flows run.
 */
public final class CongestionKind extends ExperimentKind<CongestionKind.Settings> {
  private static final String FLOW = "flow";
  private static final String VICTIM = "victim";
  private static final String FAIRNESS = "fairness";
  private static final String QUEUE = "queue";
  private static final String COMPLETION = "completion";
  private static final String KERNEL = "put_bandwidth";
  private static final Set<TransferPath> PATHS = Set.of(TransferPath.PULL, TransferPath.PULL_BF);
  private static final int MOST_BYTES = 1 << 20;
  private static final long NANOS_A_POINT = 300_000_000L;
  private static final long NANOS_A_PACKET = 40_000L;
  private static final long KERNEL_NANOS = 4_000_000_000L;

  /** After a lost tail; the connection's timeout of 67 ms would be most of the time. */
  private static final long FIRST_RETRY_NANOS = 500_000;

  private static final long DEADLINE_NANOS = 2_000_000_000L;

  /**
   * Settings of a point.
   *
   * @param traffic who sends to whom
   * @param size bytes of a message
   * @param messages of each flow
   * @param window messages of a flow in flight
   */
  record Settings(
      Point point,
      Traffic traffic,
      int ranks,
      int size,
      int messages,
      int window,
      TransferPath path,
      QueueSettings queues,
      NetworkSettings between) {}

  public CongestionKind() {
    super(
        "traffic: incast, victim, permutation or all-to-all",
        "DB-P032",
        Settings.class,
        FLOW,
        VICTIM,
        FAIRNESS,
        QUEUE,
        COMPLETION,
        "lost",
        "marked",
        "pauses");
  }

  @Override
  public boolean applies(Point point) {
    return point.has("traffic") && !point.text("traffic").equals("none");
  }

  @Override
  protected void check(Settings of, Checks checks) {
    of.between.check(of.ranks, checks);
    checks.refuseIf(
        !of.point.kernels().equals(List.of(KERNEL)),
        "flows are posted by one kernel",
        "kernel: " + KERNEL);
    checks.refuseIf(
        of.between.network() == NetworkSettings.Shape.PAIR,
        "flows over cables of their own",
        "nothing congests",
        "use network: switch, leaf-spine, rails or fat-tree");
    checks.refuseIf(
        !PATHS.contains(of.path),
        "path %s of a flow".formatted(of.path.word()),
        "use pull or pull.bf");
    checks.refuseIf(
        of.size > MOST_BYTES, "a message of %d bytes".formatted(of.size), "use at most 1 MiB");
    checks.refuseIf(
        of.ranks < of.traffic.fewestRanks(),
        "%d ranks in traffic %s".formatted(of.ranks, of.traffic.word()),
        "use at least %d ranks".formatted(of.traffic.fewestRanks()));
  }

  @Override
  protected long estimateNanos(Settings of) {
    long packets = (long) of.messages * Math.ceilDiv(of.size, of.queues.mtu());
    int flows = of.traffic.flows(of.ranks, of.point.seed()).size();
    return NANOS_A_POINT + NANOS_A_PACKET * packets * flows;
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.waived(
          "DB-P032",
          "networks fill in virtual time alone",
          "use clock: virtual, gpu: vm, hca: soft");
    }
    Settings of = run.settings();
    List<Traffic.Flow> flows = of.traffic.flows(of.ranks, run.point().seed());
    try (FlowTrial trial = open(run)) {
      run.inject(trial.world());
      for (Traffic.Flow flow : flows) {
        trial.flow(flow.from(), flow.to());
      }
      FlowSampler sampler = new FlowSampler(trial);
      run.perform(sampler, KERNEL_NANOS);
      report(run, trial, sampler);
    }
  }

  private static FlowTrial open(PointRun<Settings> run) {
    Settings of = run.settings();
    Endpoint.Shape endpoint =
        Endpoint.Shape.builder(of.queues.depth(), DEADLINE_NANOS)
            .placement(of.queues.placement())
            .blueFlame(of.path.blueFlame())
            .exclusive(true)
            .build();
    return new FlowTrial(
        run.world()
            .ranks(of.ranks)
            .mtu(of.queues.mtu())
            .switching(of.between.of(run.topology(), of.ranks))
            .firstRetry(FIRST_RETRY_NANOS)
            .open(),
        new FlowTrial.Shape(
            of.ranks, of.size, of.messages, of.window, of.path, endpoint, KERNEL_NANOS),
        run.point().seed());
  }

  private static void report(PointRun<Settings> run, FlowTrial trial, FlowSampler sampler) {
    Settings of = run.settings();
    double bytes = (double) of.size * of.messages;
    List<FlowTrial.Flow> all = trial.flows();
    boolean victim = of.traffic == Traffic.VICTIM;
    List<FlowTrial.Flow> congested = victim ? all.subList(0, all.size() - 1) : all;
    for (String metric : run.point().metrics()) {
      switch (metric) {
        case FLOW ->
            run.add(
                Samples.of(
                    metric,
                    "GB/s",
                    congested.stream().mapToDouble(flow -> bytes / flow.nanos()).toArray()));
        case COMPLETION ->
            run.add(
                Samples.of(
                    metric, "ns", congested.stream().mapToDouble(FlowTrial.Flow::nanos).toArray()));
        case VICTIM -> {
          if (victim) {
            double rate = bytes / all.getLast().nanos();
            run.add(Samples.of(metric, "GB/s", new double[] {rate}));
          }
        }
        case FAIRNESS ->
            run.add(Samples.of(metric, "", new double[] {sampler.fairness(congested.size())}));
        case QUEUE -> run.add(Samples.of(metric, "B", sampler.queue()));
        default -> {}
      }
    }
    String policy = of.between.userPolicy();
    if (policy != null) {
      run.note("congestion control: " + policy);
    }
    SwitchedNetwork network = trial.world().network();
    if (network != null) {
      SwitchedNetwork.Counters counters = network.counters();
      run.count("lost", Quantity.count(counters.lost()));
      run.count("marked", Quantity.count(counters.marked()));
      run.count("pauses", Quantity.count(counters.pauses()));
      SwitchedNetwork.Load busiest = network.busiest();
      run.note(
          "busiest queue: %s, mean %.0f bytes, most %d bytes"
              .formatted(busiest.port(), busiest.mean(), busiest.most()));
    }
  }
}
