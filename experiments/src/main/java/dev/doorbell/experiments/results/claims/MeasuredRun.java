package dev.doorbell.experiments.results.claims;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentHashMap;

/** The results of a run that was made for claims. Points may be added from several threads. */
public final class MeasuredRun {
  private final Plan plan;
  private final Basis basis;
  private final Map<String, SummaryRow> rows = new ConcurrentHashMap<>();
  private final Map<String, Problem> failures = new ConcurrentHashMap<>();

  public MeasuredRun(Plan plan, Basis basis) {
    this.plan = plan;
    this.basis = basis;
  }

  /** Takes a verified point. */
  public void add(Point point, PointResult result, Prediction prediction) {
    SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
    for (Samples samples : result.samples()) {
      metrics.put(samples.metric(), new MetricRow(samples, prediction.of(samples.metric())));
    }
    rows.put(
        point.id(),
        new SummaryRow(point.id(), point.axes(), metrics, result.counters(), point.seed()));
  }

  /** Takes a point that gave no result. */
  public void fail(Point point, Problem problem) {
    failures.put(point.id(), problem);
  }

  /**
   * What expressions may ask of it.
   *
   * @throws Expression.Unknown when no point gave a result
   */
  public Expression.Names names() throws Expression.Unknown {
    if (rows.isEmpty()) {
      throw new Expression.Unknown(
          failures.values().stream()
              .findFirst()
              .map(problem -> "no point gave a result: " + problem.what())
              .orElse("no point gave a result"));
    }
    List<SummaryRow> ordered =
        plan.points().stream().map(point -> rows.get(point.id())).filter(Objects::nonNull).toList();
    RunData data = RunData.of("claim", plan.config(), Optional.empty(), basis, ordered);
    return new RunNames(data, plan.points().size(), ordered.size());
  }
}
