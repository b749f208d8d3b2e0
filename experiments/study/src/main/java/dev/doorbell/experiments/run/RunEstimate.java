package dev.doorbell.experiments.run;

import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Point;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Estimate of the time of a run: by past runs of the same experiment on as many cores, and where
 * there are none by what the kinds of points expect.
 */
public final class RunEstimate {
  /**
   * Time of a run beside its points: the virtual machine's start, the plan, the compilation of what
   * its first points use, tables and figures. Measured with {@code run --timings} over the built-in
   * experiments.
   */
  static final long AROUND_NANOS = 3_000_000_000L;

  private static final int MOST_RUNS = 2;

  private final ToLongFunction<Point> guess;
  private final int repeat;
  private final Map<String, Long> known = new HashMap<>();
  private double scale = 1;
  private int runs;

  private RunEstimate(ToLongFunction<Point> guess, int repeat) {
    this.guess = guess;
    this.repeat = Math.max(1, repeat);
  }

  /**
   * An estimate for runs of a config.
   *
   * @param guess the wall time of a point that is run once
   * @param folder where past runs are
   */
  public static RunEstimate of(
      ExperimentConfig config, Environment environment, ToLongFunction<Point> guess, Path folder) {
    List<RunIndex> past = new ArrayList<>();
    int cores = Runtime.getRuntime().availableProcessors();
    for (RunFinder.Known run : new RunFinder(folder).known().reversed()) {
      Manifest manifest = run.manifest();
      if (past.size() < MOST_RUNS
          && manifest.experiment().equals(config.name())
          && manifest.state() == Manifest.State.COMPLETE
          && manifest.environment().equals(environment)
          && manifest.machine().cores() == cores) {
        try {
          past.add(RunIndex.read(run.path()));
        } catch (RunException _) {
          // A run that cannot be read says nothing; the commands that need it say why.
        }
      }
    }
    return refined(config.measure().repeat(), guess, past);
  }

  public static RunEstimate refined(int repeat, ToLongFunction<Point> guess, List<RunIndex> past) {
    RunEstimate estimate = new RunEstimate(guess, repeat);
    double guessed = 0;
    double taken = 0;
    for (RunIndex run : past.reversed()) {
      int repeated = Math.max(1, run.plan().config().measure().repeat());
      for (JournalEntry entry : run.entries()) {
        Point point = run.plan().points().get(entry.index());
        if (entry.status() == JournalEntry.Status.OK) {
          long once = entry.wallNanos() / repeated;
          estimate.known.put(key(point), once);
          guessed += Math.max(1, guess.applyAsLong(point));
          taken += once;
        }
      }
    }
    estimate.scale = taken > 0 ? taken / guessed : 1;
    estimate.runs = past.size();
    return estimate;
  }

  /**
   * Returns everything but the machine that a point's time depends on: every setting, not only
   * those on axes, which its id is made of.
   */
  private static String key(Point point) {
    return "%s %s %s %d %d %d"
        .formatted(
            point.kernels(),
            point.settings(),
            point.metrics(),
            point.samples(),
            point.launches(),
            point.warmup());
  }

  public long ofPoint(Point point) {
    Long once = known.get(key(point));
    return repeat * (once == null ? (long) (scale * guess.applyAsLong(point)) : once);
  }

  public long ofRun(List<Point> points, int jobs) {
    long all = points.stream().mapToLong(this::ofPoint).sum();
    long longest = points.stream().mapToLong(this::ofPoint).max().orElse(0);
    return points.isEmpty() ? 0 : AROUND_NANOS + Math.max(longest, all / jobs);
  }

  public int runs() {
    return runs;
  }
}
