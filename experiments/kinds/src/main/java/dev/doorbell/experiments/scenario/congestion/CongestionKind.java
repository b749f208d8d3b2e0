package dev.doorbell.experiments.scenario.congestion;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
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
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.transfer.FlowTrial;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.push.network.SwitchedNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
  private static final long KERNEL_NANOS = 4_000_000_000L;

  /** After a lost tail; the connection's timeout of 67 ms would be most of the time. */
  private static final long FIRST_RETRY_NANOS = 500_000;

  private static final long DEADLINE_NANOS = 2_000_000_000L;

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
    super("traffic: incast, victim, permutation or all-to-all", "DB-P032", Settings.class);
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
  }

  @Override
  protected Map<String, Integer> numbers(Settings of) {
    return Map.of(
        "fewest_ranks",
        of.traffic.fewestRanks(),
        "flows",
        of.traffic.flows(of.ranks, of.point.seed()).size());
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    run.requireVirtualTime(
        "DB-P032", "networks fill in virtual time alone", "use clock: virtual, gpu: vm, hca: soft");
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
        of.queues.endpoint(DEADLINE_NANOS).blueFlame(of.path.blueFlame()).exclusive(true).build();
    return new FlowTrial(
        of.between.world(run, of.ranks, of.queues).firstRetry(FIRST_RETRY_NANOS).open(),
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

  private static final class FlowSampler implements Trial {
    private static final long SLICE_NANOS = 5_000;

    private final FlowTrial trial;
    private final List<long[]> arrived = new ArrayList<>();
    private final List<Long> queued = new ArrayList<>();

    FlowSampler(FlowTrial trial) {
      this.trial = trial;
    }

    @Override
    public RunOutcome advance(BooleanSupplier done, long nanos) {
      RunOutcome outcome = trial.advance(done, nanos);
      arrived.add(trial.flows().stream().mapToLong(FlowTrial.Flow::arrived).toArray());
      SwitchedNetwork network = trial.world().network();
      queued.add(network == null ? 0 : network.queued(0));
      return outcome;
    }

    @Override
    public long sliceNanos() {
      return SLICE_NANOS;
    }

    /** Samples of the second half of the time in which all flows run: controls have settled. */
    private int[] settled() {
      long[] last = arrived.getLast();
      int end = 0;
      while (end < arrived.size() - 1 && allRun(arrived.get(end), last)) {
        end++;
      }
      return new int[] {end / 2, Math.max(end / 2 + 1, end)};
    }

    private static boolean allRun(long[] at, long[] last) {
      for (int i = 0; i < at.length; i++) {
        if (at[i] == last[i]) {
          return false;
        }
      }
      return true;
    }

    /** Bytes in the queue towards rank 0, every 5 us of the settled time. */
    double[] queue() {
      int[] time = settled();
      return queued.subList(time[0], Math.min(time[1], queued.size())).stream()
          .mapToDouble(Long::doubleValue)
          .toArray();
    }

    /**
     * Jain's index of the rates of the first {@code flows} flows in the settled time: 1 where all
     * are equal, 1/n where one has everything (Jain, Chiu and Hawe, 1984).
     */
    double fairness(int flows) {
      int[] time = settled();
      long[] from = arrived.get(time[0]);
      long[] to = arrived.get(Math.min(time[1], arrived.size() - 1));
      double sum = 0;
      double squares = 0;
      for (int i = 0; i < flows; i++) {
        double rate = to[i] - from[i];
        sum += rate;
        squares += rate * rate;
      }
      return squares == 0 ? 1 : sum * sum / (flows * squares);
    }

    @Override
    public Fabric fabric() {
      return trial.fabric();
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      return trial.prepare();
    }

    @Override
    public @Nullable String firstError() {
      return trial.firstError();
    }

    @Override
    public @Nullable String mismatch() {
      return trial.mismatch();
    }

    @Override
    public long verifiedBytes() {
      return trial.verifiedBytes();
    }
  }

  enum Traffic {
    /** All others to rank 0. */
    INCAST(2),
    /** Ranks 2 and above but the last to rank 0, and the last one, the victim, to rank 1. */
    VICTIM(5),
    /** Each to one other, drawn by the seed so that all are one cycle. */
    PERMUTATION(2),
    ALL_TO_ALL(2);

    private final int fewest;

    Traffic(int fewest) {
      this.fewest = fewest;
    }

    record Flow(int from, int to) {}

    int fewestRanks() {
      return fewest;
    }

    /** The flows among {@code ranks}; the victim's own flow is the last. */
    List<Flow> flows(int ranks, long seed) {
      List<Flow> flows = new ArrayList<>();
      switch (this) {
        case INCAST -> {
          for (int from = 1; from < ranks; from++) {
            flows.add(new Flow(from, 0));
          }
        }
        case VICTIM -> {
          for (int from = 2; from < ranks - 1; from++) {
            flows.add(new Flow(from, 0));
          }
          flows.add(new Flow(ranks - 1, 1));
        }
        case PERMUTATION -> {
          int[] to = cycle(ranks, seed);
          for (int from = 0; from < ranks; from++) {
            flows.add(new Flow(from, to[from]));
          }
        }
        case ALL_TO_ALL -> {
          for (int distance = 1; distance < ranks; distance++) {
            for (int from = 0; from < ranks; from++) {
              flows.add(new Flow(from, (from + distance) % ranks));
            }
          }
        }
      }
      return flows;
    }

    /** Sattolo's algorithm: a permutation that is one cycle. */
    private static int[] cycle(int ranks, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      int[] to = new int[ranks];
      for (int i = 0; i < ranks; i++) {
        to[i] = i;
      }
      for (int i = ranks - 1; i > 0; i--) {
        int other = random.nextInt(i);
        int kept = to[i];
        to[i] = to[other];
        to[other] = kept;
      }
      return to;
    }
  }
}
