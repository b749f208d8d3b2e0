package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.Basis;
import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Fabric.AgentsEnded;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.FabricCounters;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kind.QueueSettings.AdapterName;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One point while it runs: what it was asked, and what it has measured so far.
 *
 * @param <S> its settings
 */
public final class PointRun<S> {
  private static final String NO_RESULT = "the point has no result";

  private final Point point;
  private final S settings;
  private final PointContext context;
  private final Topology topology;
  private final ExecutionBackend backend;
  private final List<Samples> samples = new ArrayList<>();
  private final SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
  private final Set<String> notes = new LinkedHashSet<>();
  private final List<FaultInjector> injectors = new ArrayList<>();
  private final List<List<FaultTally>> tallies = new ArrayList<>();
  private final Adapter adapter;
  private Basis basis;
  private long verified;

  /** A run that has measured nothing yet. */
  public PointRun(
      Point point, S settings, PointContext context, Topology topology, ExecutionBackend backend) {
    this.point = point;
    this.settings = settings;
    this.context = context;
    this.topology = topology;
    this.backend = backend;
    this.adapter = AdapterName.of(point);
    this.basis = backend.basis();
  }

  public Point point() {
    return point;
  }

  public S settings() {
    return settings;
  }

  public Topology topology() {
    return topology;
  }

  public ExecutionBackend backend() {
    return backend;
  }

  /** Returns true if a real GPU runs the kernels, with HCAs in software. */
  public boolean onGpu() {
    return backend instanceof ExecutionBackend.Cuda;
  }

  /** A world of two ranks for this point, in its placement and on its backend. */
  public WorldBuilder world() {
    return new WorldBuilder(backend, topology).seed(point.seed()).adapter(adapter);
  }

  public boolean asksFor(String metric) {
    return point.metrics().contains(metric);
  }

  /** Sets the basis of the result's numbers, where the backend does not say it. */
  public void basis(Basis other) {
    basis = other;
  }

  /** Adds a note for readers of the numbers; once, however often it is added. */
  public void note(String note) {
    notes.add(note);
  }

  public void add(Samples more) {
    samples.add(more);
  }

  /** Adds those of all samples that the config asks for, in its order: tables have theirs. */
  public void report(List<Samples> all) {
    for (String metric : point.metrics()) {
      all.stream().filter(one -> one.metric().equals(metric)).forEach(samples::add);
    }
  }

  /** Leaves the point out unless it runs in virtual time. */
  public void requireVirtualTime(String code, String what, String fix) throws PointFailure {
    if (!(backend instanceof ExecutionBackend.Virtual)) {
      throw waived(code, what, fix);
    }
  }

  /** Counters of a fabric in virtual time; other fabrics count nothing. */
  public @Nullable FabricCounters traffic(Fabric fabric) {
    return fabric instanceof TimedFabric timed ? timed.counters() : null;
  }

  /** Keeps a counter if the config asks for it. */
  public void count(String metric, Quantity quantity) {
    if (asksFor(metric)) {
      counters.put(metric, quantity);
    }
  }

  /** Starts the point's faults at every HCA of a world. */
  public void inject(World world) {
    injectors.addAll(world.inject(point.faults().forTransfer(point.seed() + injectors.size())));
  }

  /** Adds what the point's faults did in one world. */
  public void tally(List<FaultTally> more) {
    tallies.add(more);
  }

  /**
   * Launches a trial's kernels, waits until all have ended, and verifies what they left.
   *
   * @param nanos on the fabric's clock, after which the kernels are stopped
   */
  public <T extends Trial> T perform(T trial, long nanos) throws PointFailure {
    await(trial, nanos);
    String error = trial.firstError();
    if (error != null) {
      throw failed("DB-P001", error);
    }
    String mismatch = trial.mismatch();
    if (mismatch != null) {
      throw mismatch(mismatch);
    }
    verified(trial.verifiedBytes());
    return trial;
  }

  /** Runs a trial without verifying anything; see {@link #perform}. */
  public void await(Trial trial, long nanos) throws PointFailure {
    List<Launch> launches = launch(trial.prepare());
    RunOutcome outcome = RunOutcome.DEADLINE;
    BooleanSupplier allDone = new AllDone(launches);
    long slice = trial.sliceNanos();
    for (long left = nanos; left > 0 && outcome != RunOutcome.DONE; left -= slice) {
      outcome = trial.advance(allDone, slice);
      if (outcome == RunOutcome.STALLED) {
        throw failed(
            "DB-P003",
            "nothing can happen any more" + waiting(trial.fabric()),
            "the kernels wait for something that nobody will do");
      }
      if (outcome != RunOutcome.DONE) {
        endIfCancelled(launches);
      }
    }
    if (outcome != RunOutcome.DONE) {
      launches.forEach(launch -> launch.cancel("the point's time was over"));
      throw failure(
          PointFailure.Kind.TIMEOUT,
          "DB-P005",
          "the kernels did not end within %d ms".formatted(nanos / 1_000_000),
          NO_RESULT);
    }
    launches.forEach(Launch::check);
    trial.fabric().quiesce();
  }

  /** Stops the launches and ends the point, if its user has interrupted it. */
  public void endIfCancelled(List<Launch> launches) throws PointFailure {
    if (context.cancelled()) {
      launches.forEach(launch -> launch.cancel("interrupted"));
      throw failure(PointFailure.Kind.CANCELLED, "DB-P004", "interrupted", NO_RESULT);
    }
  }

  private static List<Launch> launch(List<Supplier<Launch>> starts) {
    List<Launch> launches = new ArrayList<>();
    try {
      for (Supplier<Launch> start : starts) {
        launches.add(start.get());
      }
      return launches;
    } catch (GpuException e) {
      launches.forEach(launch -> launch.cancel("its peer could not be launched"));
      throw e;
    }
  }

  /**
   * True when all launches are done, which ends with an agent's end. A launch that was done once is
   * not asked again, so that a call costs the same among two launches and among thousands.
   */
  private static final class AllDone implements AgentsEnded {
    private final List<Launch> launches;
    private int done;

    AllDone(List<Launch> launches) {
      this.launches = launches;
    }

    @Override
    public boolean getAsBoolean() {
      while (done < launches.size() && launches.get(done).done()) {
        done++;
      }
      return done == launches.size();
    }
  }

  private static String waiting(Fabric fabric) {
    return fabric instanceof TimedFabric timed ? ": " + String.join("; ", timed.waiting()) : "";
  }

  /** Adds bytes that were compared at their target, all of them right. */
  public void verified(long bytes) {
    verified += bytes;
  }

  /** A failure without a result. */
  public PointFailure failed(String code, String what) {
    return failed(code, what, NO_RESULT);
  }

  /** A failure without a result, with what it means. */
  public PointFailure failed(String code, String what, String effect) {
    return failure(PointFailure.Kind.FAILED, code, what, effect);
  }

  /** A failure because something else arrived than was sent. */
  public PointFailure mismatch(String what) {
    return failure(PointFailure.Kind.MISMATCH, "DB-P002", what, NO_RESULT);
  }

  /** The backend cannot run such points: the point is left out. */
  public PointFailure waived(String code, String what, String fix) {
    return new PointFailure(
        PointFailure.Kind.WAIVED,
        Problem.of(code, point.id(), what).effect("the point was not run").fix(fix));
  }

  private PointFailure failure(PointFailure.Kind kind, String code, String what, String effect) {
    return new PointFailure(kind, Problem.of(code, point.id(), what).effect(effect));
  }

  PointResult result() {
    return new PointResult(basis, samples, counters, verified, List.copyOf(notes));
  }

  void reportFaults() {
    if (!injectors.isEmpty()) {
      tally(FaultTally.of(FaultCount.total(point.faults(), injectors)));
    }
    if (!tallies.isEmpty() && !point.faults().faults().isEmpty()) {
      context.faults(FaultTally.total(tallies));
    }
  }
}
