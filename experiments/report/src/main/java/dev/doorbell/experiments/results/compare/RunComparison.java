package dev.doorbell.experiments.results.compare;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.stats.Change;
import dev.doorbell.experiments.stats.RankComparison;
import dev.doorbell.experiments.stats.SampleSize;
import dev.doorbell.experiments.stats.SampleWarning;
import dev.doorbell.experiments.stats.Summary.Processes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Two runs, point by point.
 *
 * @param differences settings of which each run has one value, and another one than the other run
 * @param axes by which points were matched: those of either run, without these
 * @param points in the plan order of the first run, metric by metric
 * @param onlyBefore points of the first run without a counterpart
 * @param onlyAfter points of the second run without one
 * @param sameMachine whether the manifests name like machines with the same software
 */
public record RunComparison(
    RunIndex before,
    RunIndex after,
    Rules rules,
    List<Difference> differences,
    List<Axis> axes,
    List<PointComparison> points,
    List<String> onlyBefore,
    List<String> onlyAfter,
    boolean sameMachine) {

  public record Difference(String setting, Value before, Value after) {}

  public ChangeVerdict overall() {
    return ChangeVerdict.overall(points.stream().map(PointComparison::verdict).toList());
  }

  /**
   * Compares.
   *
   * @throws RunException when samples cannot be read, the runs have no point and metric in common,
   *     or their numbers are of different kinds
   */
  public static RunComparison of(RunIndex before, RunIndex after, Rules rules) throws RunException {
    if (before.manifest().basis() != after.manifest().basis()) {
      throw RunException.unreadable(
          Problem.of(
                  "DB-R007",
                  after.id(),
                  "its numbers are %s, those of %s are %s"
                      .formatted(
                          after.manifest().basis().word(),
                          before.id(),
                          before.manifest().basis().word()))
              .effect("a change between them would mean nothing")
              .fix("compare MEASURED MODELLED --residuals says how far a model is off"));
    }
    return matched(before, after, rules, before.manifest().basis() != Basis.MODELLED);
  }

  /**
   * Pairs the points of two runs, whatever their numbers are: for what a model is off by, of which
   * no test and no verdict speaks.
   */
  public static RunComparison matched(RunIndex before, RunIndex after, Rules rules)
      throws RunException {
    return matched(before, after, rules, false);
  }

  /** Pairs the points of two runs. */
  private static RunComparison matched(
      RunIndex before, RunIndex after, Rules rules, boolean byProcess) throws RunException {
    SequencedMap<String, Axis> axes = new LinkedHashMap<>();
    before.plan().config().axes().forEach(axis -> axes.put(axis.name(), axis));
    after.plan().config().axes().forEach(axis -> axes.putIfAbsent(axis.name(), axis));
    List<Difference> differences = differences(before, after);
    differences.forEach(difference -> axes.remove(difference.setting()));
    Matching matching = new Matching(before, after, axes.sequencedKeySet());
    List<PointComparison> points = new ArrayList<>();
    for (Pair pair : matching.pairs) {
      compare(before, after, pair, rules, byProcess, points);
    }
    for (RunIndex run : List.of(before, after)) {
      if (run.results().isEmpty()) {
        throw RunException.unreadable(
            Problem.of("DB-R007", run.id(), "no point of it has a result to compare")
                .fix("doorbell table RUN says why"));
      }
    }
    if (points.isEmpty()) {
      throw RunException.unreadable(
          Problem.of(
                  "DB-R007", after.id(), "it has no point and metric in common with " + before.id())
              .fix(
                  "points are matched by %s%s"
                      .formatted(
                          String.join(", ", axes.keySet()),
                          disjoint(before, after, axes.sequencedKeySet()))));
    }
    return new RunComparison(
        before,
        after,
        rules,
        differences,
        List.copyOf(axes.values()),
        judged(before, after, points, rules),
        matching.onlyBefore,
        matching.onlyAfter,
        before.manifest().sameMachine(after.manifest()));
  }

  private static List<Difference> differences(RunIndex before, RunIndex after) {
    Map<String, SequencedSet<Value>> others = values(after.plan().points());
    List<Difference> differences = new ArrayList<>();
    values(before.plan().points())
        .forEach(
            (setting, values) -> {
              SequencedSet<Value> other = others.getOrDefault(setting, new LinkedHashSet<>());
              if (values.size() == 1 && other.size() == 1 && !values.equals(other)) {
                differences.add(new Difference(setting, values.getFirst(), other.getFirst()));
              }
            });
    return differences;
  }

  private static SequencedMap<String, SequencedSet<Value>> values(List<Point> points) {
    SequencedMap<String, SequencedSet<Value>> values = new LinkedHashMap<>();
    for (Point point : points) {
      point
          .settings()
          .forEach((name, v) -> values.computeIfAbsent(name, _ -> new LinkedHashSet<>()).add(v));
    }
    return values;
  }

  private static List<Point> finished(RunIndex run) {
    Map<String, JournalEntry> results = run.results();
    return run.plan().points().stream().filter(p -> results.containsKey(p.id())).toList();
  }

  private static String disjoint(RunIndex before, RunIndex after, SequencedSet<String> axes) {
    Map<String, SequencedSet<Value>> first = values(finished(before));
    Map<String, SequencedSet<Value>> second = values(finished(after));
    return axes.stream()
        .filter(axis -> first.containsKey(axis) && second.containsKey(axis))
        .filter(axis -> Collections.disjoint(values(first, axis), values(second, axis)))
        .map(
            axis ->
                "; of %s the first run has %s, the second %s"
                    .formatted(axis, texts(values(first, axis)), texts(values(second, axis))))
        .collect(Collectors.joining());
  }

  private static SequencedSet<Value> values(Map<String, SequencedSet<Value>> all, String axis) {
    return all.getOrDefault(axis, new LinkedHashSet<>());
  }

  private static String texts(SequencedSet<Value> values) {
    return values.stream().map(Value::text).collect(Collectors.joining(", "));
  }

  private record Pair(
      SequencedMap<String, Value> settings, Point point, JournalEntry before, JournalEntry after) {}

  private static final class Matching {
    final List<Pair> pairs = new ArrayList<>();
    final List<String> onlyBefore = new ArrayList<>();
    final List<String> onlyAfter = new ArrayList<>();

    Matching(RunIndex before, RunIndex after, SequencedSet<String> axes) {
      Map<String, JournalEntry> afterResults = after.results();
      Map<SequencedMap<String, Value>, Point> counterparts = new HashMap<>();
      for (Point point : after.plan().points()) {
        if (afterResults.containsKey(point.id())) {
          counterparts.put(settings(point, axes), point);
        }
      }
      Map<String, JournalEntry> beforeResults = before.results();
      for (Point point : before.plan().points()) {
        JournalEntry entry = beforeResults.get(point.id());
        if (entry == null) {
          continue;
        }
        SequencedMap<String, Value> settings = settings(point, axes);
        Point counterpart = counterparts.remove(settings);
        JournalEntry other = counterpart == null ? null : afterResults.get(counterpart.id());
        if (other == null) {
          onlyBefore.add(point.id());
        } else {
          pairs.add(new Pair(settings, point, entry, other));
        }
      }
      Set<String> left = counterparts.values().stream().map(Point::id).collect(Collectors.toSet());
      after.plan().points().stream().map(Point::id).filter(left::contains).forEach(onlyAfter::add);
    }

    private static SequencedMap<String, Value> settings(Point point, SequencedSet<String> axes) {
      SequencedMap<String, Value> settings = new LinkedHashMap<>();
      for (String axis : axes) {
        Value value = point.settings().get(axis);
        if (value != null) {
          settings.put(axis, value);
        }
      }
      return settings;
    }
  }

  private static void compare(
      RunIndex before,
      RunIndex after,
      Pair pair,
      Rules rules,
      boolean byProcess,
      List<PointComparison> points)
      throws RunException {
    Predicate<String> wanted =
        metric -> rules.metrics().isEmpty() || rules.metrics().contains(metric);
    var first = before.values(pair.before, wanted);
    var second = after.values(pair.after, wanted);
    for (RunIndex.Values values : first.values()) {
      RunIndex.Values others = second.get(values.metric());
      if (others == null || values.samples().length == 0 || others.samples().length == 0) {
        continue;
      }
      double[] one = byProcess ? medians(before, values) : values.samples();
      double[] other = byProcess ? medians(after, others) : others.samples();
      SequencedSet<SampleWarning> warnings =
          new LinkedHashSet<>(SampleWarning.aboutOwned(values.samples()));
      warnings.addAll(SampleWarning.aboutOwned(others.samples()));
      int beforeCount = one.length;
      int afterCount = other.length;
      Change change = Change.ofOwned(one, other, pair.point.seed());
      points.add(
          new PointComparison(
              pair.settings,
              values.metric(),
              values.unit(),
              beforeCount,
              afterCount,
              change,
              OptionalDouble.empty(),
              ChangeVerdict.NO_CHANGE,
              List.copyOf(warnings)));
    }
  }

  /**
   * Virtual time has no noise: a point with the same seed gives the same samples again, and one
   * whose samples are all equal has nothing that a seed could change. There the size decides. Else
   * ranks are tested, all tests of the comparison together.
   */
  private static List<PointComparison> judged(
      RunIndex before, RunIndex after, List<PointComparison> points, Rules rules) {
    boolean virtual = before.manifest().basis() == Basis.MODELLED;
    boolean sameSeed = before.plan().config().seed() == after.plan().config().seed();
    List<PointComparison> tested = new ArrayList<>();
    Set<PointComparison> exact = Collections.newSetFromMap(new IdentityHashMap<>());
    for (PointComparison point : points) {
      boolean repeats = (sameSeed && point.before() == point.after()) || point.constant();
      if (virtual && repeats) {
        exact.add(point);
      } else {
        tested.add(point);
      }
    }
    double[] p =
        RankComparison.holm(
            tested.stream().mapToDouble(point -> point.change().ranks().p()).toArray());
    double[] least =
        RankComparison.holm(
            tested.stream()
                .mapToDouble(point -> SampleSize.leastP(point.before(), point.after()))
                .toArray());
    List<PointComparison> judged = new ArrayList<>();
    int test = 0;
    for (PointComparison point : points) {
      var better =
          KernelMetric.higherIsBetter(after.plan().config().brought(), point.metric(), point.unit())
              ? ChangeVerdict.Direction.HIGHER
              : ChangeVerdict.Direction.LOWER;
      if (exact.contains(point)) {
        ChangeVerdict verdict = ChangeVerdict.sized(point.change(), better, rules);
        judged.add(point.judged(OptionalDouble.empty(), verdict));
      } else {
        ChangeVerdict verdict =
            ChangeVerdict.tested(point.change(), p[test], least[test], better, rules);
        judged.add(point.judged(OptionalDouble.of(p[test]), verdict));
        test++;
      }
    }
    return judged;
  }

  private static double[] medians(RunIndex run, RunIndex.Values values) {
    boolean whole = values.samples().length % run.processes() == 0;
    return Processes.medians(values.samples(), whole ? run.processes() : 1);
  }

  /** Returns true if a process is one observation, as in wall time. */
  public boolean byProcess() {
    return before.manifest().basis() != Basis.MODELLED;
  }

  /** Comparisons that were tested; the others repeat exactly. */
  public int tests() {
    return (int) points.stream().filter(point -> point.p().isPresent()).count();
  }

  /**
   * Returns the repetitions, in wall time the processes, that both runs need so that one that is
   * undecided can be decided. A point that was run several times had as many samples each time.
   */
  public int repeatsToDecide(PointComparison point) {
    int needed = SampleSize.decidable(Math.max(1, tests()), rules.alpha());
    if (byProcess()) {
      return needed;
    }
    int repeated =
        Math.min(
            Math.max(1, before.plan().config().measure().repeat()),
            Math.max(1, after.plan().config().measure().repeat()));
    double once = Math.max(1, (double) Math.min(point.before(), point.after()) / repeated);
    return (int) Math.ceil(needed / once);
  }

  /**
   * Rules of a comparison.
   *
   * @param metrics to compare; empty for every one that both runs sampled
   * @param alpha the chance of a false alarm among all points and metrics together
   * @param threshold relative change of a median that counts
   */
  public record Rules(Set<String> metrics, double alpha, double threshold) {
    /** All metrics, one false alarm in twenty, changes above one percent. */
    public static final Rules DEFAULT = new Rules(Set.of(), 0.05, 0.01);

    public Rules {
      metrics = Set.copyOf(metrics);
      if (!(alpha > 0 && alpha < 1) || !(threshold >= 0)) {
        throw new IllegalArgumentException("alpha=%s threshold=%s".formatted(alpha, threshold));
      }
    }
  }
}
