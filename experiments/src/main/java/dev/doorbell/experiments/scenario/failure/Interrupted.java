package dev.doorbell.experiments.scenario.failure;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.collective.CollectiveTrial;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.push.network.SwitchedNetwork;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The time line of a point: the failure, when each kernel ends, the probe, the recovery. */
final class Interrupted {
  static final String HEALTHY = "healthy";
  static final String DETECT = "detect";
  static final String PROBE = "probe";
  static final String RECOVER = "recover";
  static final String DEGRADED = "degraded";

  /** No kernel hangs: each of its waits has its deadline, and it waits for a few things. */
  private static final long BOUND_DEADLINES = 20;

  private final PointRun<FailureKind.Settings> run;
  private final World world;
  private final SwitchedNetwork network;
  private final List<Double> detected = new ArrayList<>();
  private long struckAt;
  private double probed;

  Interrupted(PointRun<FailureKind.Settings> run, World world) {
    this.run = run;
    this.world = world;
    SwitchedNetwork between = world.network();
    if (between == null) {
      throw new IllegalStateException("a failure needs switches");
    }
    this.network = between;
  }

  PointRun<FailureKind.Settings> run() {
    return run;
  }

  World world() {
    return world;
  }

  SwitchedNetwork network() {
    return network;
  }

  /**
   * Launches all kernels, breaks something in their midst, and waits until those that are alive
   * have ended.
   *
   * @param errorOf what the kernel of a rank reports, or null
   */
  void strike(Trial trial, IntFunction<@Nullable String> errorOf) throws PointFailure {
    FailureKind.Settings of = run.settings();
    List<Launch> launches = trial.prepare().stream().map(Supplier::get).toList();
    List<Launch> alive = new ArrayList<>();
    for (int rank : of.fails().alive(of.ranks())) {
      alive.add(launches.get(rank));
    }
    if (world.fabric().run(() -> alive.stream().allMatch(Launch::done), of.after())
        == RunOutcome.DONE) {
      throw run.failed(
          "DB-P035",
          "the operation ended within %d ns".formatted(of.after()),
          "nothing failed in its midst: use a smaller fails_at or a larger operation");
    }
    struckAt = world.fabric().now();
    of.fails().strike(network);
    for (int rank = 0; rank < launches.size(); rank++) {
      if (of.fails().stops(rank)) {
        launches.get(rank).cancel("the rank failed");
      }
    }
    Map<Launch, Long> ended = await(alive, BOUND_DEADLINES * of.deadline());
    Map<String, Integer> errors = new LinkedHashMap<>();
    for (int rank : of.fails().alive(of.ranks())) {
      String error = errorOf.apply(rank);
      Long end = ended.get(launches.get(rank));
      if (error != null && end != null) {
        detected.add((double) (end - struckAt));
        errors.merge(error.substring(error.lastIndexOf(": ") + 2), 1, Integer::sum);
      }
    }
    errors.forEach((error, ranks) -> run.note("%s at %d ranks".formatted(error, ranks)));
  }

  /** When each kernel has ended; a kernel that does not is an error. */
  private Map<Launch, Long> await(List<Launch> launches, long nanos) throws PointFailure {
    Map<Launch, Long> ended = new LinkedHashMap<>();
    long until = world.fabric().now() + nanos;
    while (ended.size() < launches.size()) {
      long left = until - world.fabric().now();
      RunOutcome outcome =
          left <= 0
              ? RunOutcome.DEADLINE
              : world
                  .fabric()
                  .run(() -> launches.stream().anyMatch(each -> ends(each, ended)), left);
      if (outcome != RunOutcome.DONE) {
        launches.forEach(launch -> launch.cancel("it hangs"));
        throw run.failed(
            "DB-P035",
            "%d kernels hang %d ms after the failure"
                .formatted(launches.size() - ended.size(), nanos / 1_000_000));
      }
      for (Launch launch : launches) {
        if (ends(launch, ended)) {
          launch.check();
          ended.put(launch, world.fabric().now());
        }
      }
    }
    return ended;
  }

  private static boolean ends(Launch launch, Map<Launch, Long> ended) {
    return launch.done() && !ended.containsKey(launch);
  }

  /** Whether any kernel reported an error. */
  boolean noticed() {
    return !detected.isEmpty();
  }

  /** Compares what an operation left that no kernel had an error in. */
  void verify(Trial trial) throws PointFailure {
    world.fabric().quiesce();
    String mismatch = trial.mismatch();
    if (mismatch != null) {
      throw run.mismatch(mismatch);
    }
    run.verified(trial.verifiedBytes());
  }

  /**
   * Runs a barrier of everybody with everybody over the HCAs, which ends by deadlines.
   *
   * @return ranks that nobody else has heard
   */
  Set<Integer> probe(CollectiveTrial trial) throws PointFailure {
    FailureKind.Settings of = run.settings();
    long from = world.fabric().now();
    List<Supplier<Launch>> starts = trial.prepare();
    int[] alive = of.fails().alive(of.ranks());
    List<Launch> launches = new ArrayList<>();
    for (int rank : alive) {
      launches.add(starts.get(rank).get());
    }
    await(launches, BOUND_DEADLINES * of.deadline());
    probed = world.fabric().now() - from;
    Set<Integer> mute = new LinkedHashSet<>();
    for (int rank = 0; rank < of.ranks(); rank++) {
      boolean heard = false;
      for (int other : alive) {
        heard |= other != rank && trial.heard(other, rank);
      }
      if (!heard) {
        mute.add(rank);
      }
    }
    run.note("the probe hears nothing of ranks " + mute);
    return mute;
  }

  /** The result is right at all that are left. */
  void recovered(double healthy, double degraded) {
    double since = world.fabric().now() - struckAt;
    for (String metric : run.point().metrics()) {
      switch (metric) {
        case HEALTHY -> add(metric, healthy);
        case DEGRADED -> add(metric, degraded);
        case RECOVER -> add(metric, since);
        case PROBE -> {
          if (noticed()) {
            add(metric, probed);
          }
        }
        case DETECT -> {
          if (noticed()) {
            run.add(
                Samples.of(
                    metric, "ns", detected.stream().mapToDouble(Double::doubleValue).toArray()));
          }
        }
        default -> {}
      }
    }
  }

  private void add(String metric, double nanos) {
    run.add(Samples.of(metric, "ns", new double[] {nanos}));
  }
}
