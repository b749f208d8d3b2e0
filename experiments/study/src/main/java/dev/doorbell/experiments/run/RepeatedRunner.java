package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig.Until;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Runs a point several times, each time in a world of its own with a seed of its own, and puts the
 * samples together: what varies from start to start is then inside the interval. The first time is
 * the point as it is without this.
 *
 * <p>The result depends on the point alone: how often it runs is decided by its samples.
 */
public final class RepeatedRunner implements PointRunner {
  /** A point that is not known well enough by then will hardly ever be. */
  static final int MOST = 100;

  private final PointRunner once;
  private final int least;
  private final @Nullable Until until;

  /**
   * Wraps a runner.
   *
   * @param least times that a point runs at least
   * @param until what its samples must show before it is enough, or null
   */
  public RepeatedRunner(PointRunner once, int least, @Nullable Until until) {
    this.once = once;
    this.least = least;
    this.until = until;
  }

  @Override
  public PointResult run(Point point, PointContext context) throws PointFailure {
    if (least == 1 && until == null) {
      return once.run(point, context);
    }
    List<PointResult> results = new ArrayList<>();
    Tallies tallies = new Tallies(context);
    while (results.size() < least || wanting(point, results)) {
      if (context.cancelled()) {
        throw new PointFailure(
            PointFailure.Kind.CANCELLED,
            Problem.of("DB-P003", point.id(), "stopped after %d rounds".formatted(results.size())));
      }
      results.add(once.run(point.reseeded(seed(point.seed(), results.size())), tallies));
      tallies.next();
    }
    return merge(point, results);
  }

  /** The first round is the point itself; the others follow from it (SplitMix64's finaliser). */
  static long seed(long seed, int round) {
    if (round == 0) {
      return seed;
    }
    long z = seed + round * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  private boolean wanting(Point point, List<PointResult> results) {
    return until != null
        && results.size() < MOST
        && halfWidth(point, results, until) >= until.bound();
  }

  /** Zero where the metric has no samples: more rounds would bring none. */
  private static double halfWidth(Point point, List<PointResult> results, Until until) {
    for (Samples samples : results.getFirst().samples()) {
      if (samples.metric().equals(until.metric()) && samples.size() > 0) {
        return Summary.of(values(results, until.metric()), point.seed()).relativeHalfWidth();
      }
    }
    return 0;
  }

  private static double[] values(List<PointResult> results, String metric) {
    return results.stream()
        .flatMap(result -> result.samples().stream())
        .filter(samples -> samples.metric().equals(metric))
        .flatMapToDouble(samples -> Arrays.stream(samples.values()))
        .toArray();
  }

  private PointResult merge(Point point, List<PointResult> results) {
    PointResult first = results.getFirst();
    List<Samples> samples =
        first.samples().stream()
            .map(s -> Samples.of(s.metric(), s.unit(), values(results, s.metric())))
            .toList();
    List<String> notes = new ArrayList<>(first.notes());
    notes.add("%d rounds of %d samples".formatted(results.size(), point.samples()));
    if (until != null && halfWidth(point, results, until) >= until.bound()) {
      notes.add(
          String.format(
              Locale.ROOT,
              "'%s' was not reached: the interval is still +-%.2g %% of the median",
              until.text(),
              halfWidth(point, results, until) * 100));
    }
    long verified = results.stream().mapToLong(PointResult::verifiedBytes).sum();
    return new PointResult(first.basis(), samples, first.counters(), verified, notes);
  }

  /** Adds up what the fault plan did in all rounds. */
  private static final class Tallies implements PointContext {
    private final PointContext context;
    private final List<List<FaultTally>> ended = new ArrayList<>();
    private List<FaultTally> current = List.of();

    Tallies(PointContext context) {
      this.context = context;
    }

    void next() {
      ended.add(current);
      current = List.of();
    }

    @Override
    public boolean cancelled() {
      return context.cancelled();
    }

    @Override
    public void log(String line) {
      context.log(line);
    }

    @Override
    public void faults(List<FaultTally> tallies) {
      current = tallies;
      List<List<FaultTally>> all = new ArrayList<>(ended);
      all.add(tallies);
      context.faults(FaultTally.total(all));
    }
  }
}
