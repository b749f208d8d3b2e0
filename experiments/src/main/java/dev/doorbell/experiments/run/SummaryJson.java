package dev.doorbell.experiments.run;

import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.stats.Crossover.Crossing;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * The summary of a run for programs: a pure function of the samples. It does not say when or where
 * the run was, so that two runs with the same seed give the same bytes.
 */
final class SummaryJson {
  private SummaryJson() {}

  /** The summary as maps and lists, in a fixed order. */
  static SequencedMap<String, Object> of(RunData data) {
    SequencedMap<String, Object> tree = new LinkedHashMap<>();
    tree.put("experiment", data.experiment());
    tree.put("question", data.question());
    tree.put("basis", data.basis().word());
    tree.put("config_hash", data.configHash());
    tree.put("seed", data.seed());
    tree.put("points", data.rows().stream().map(SummaryJson::point).toList());
    tree.put("crossovers", Crossings.of(data).stream().map(SummaryJson::crossover).toList());
    if (!data.expectations().isEmpty()) {
      tree.put(
          "expectations", Expectations.of(data).stream().map(SummaryJson::expectation).toList());
    }
    return tree;
  }

  private static SequencedMap<String, Object> point(SummaryRow row) {
    SequencedMap<String, Object> point = new LinkedHashMap<>();
    point.put("point", row.pointId());
    row.axes().forEach((name, value) -> point.put(name, plain(value)));
    SequencedMap<String, Object> metrics = new LinkedHashMap<>();
    row.metrics().forEach((name, metric) -> metrics.put(name, metric(row, metric)));
    point.put("metrics", metrics);
    point.put("counters", row.counters());
    return point;
  }

  private static Object plain(Value value) {
    return switch (value) {
      case Value.Text(String text) -> text;
      case Value.Whole(long number) -> number;
      case Value.Real(double number) -> number;
      case Value.Flag(boolean yes) -> yes;
    };
  }

  private static SequencedMap<String, Object> metric(SummaryRow row, MetricRow metric) {
    SequencedMap<String, Object> map = new LinkedHashMap<>();
    map.put("unit", metric.samples().unit());
    if (metric.samples().size() > 0) {
      Summary summary = SummaryFiles.summary(row, metric);
      map.put("p50", summary.median());
      summary.interval().ifPresent(ci -> map.put("ci95", List.of(ci.lower(), ci.upper())));
      summary.p99().ifPresent(p99 -> map.put("p99", p99));
      map.put("min", summary.min());
      map.put("max", summary.max());
      map.put("n", summary.n());
      metric.model().ifPresent(term -> map.put("model", model(term, summary.median())));
    }
    return map;
  }

  private static SequencedMap<String, Object> model(Prediction.Term term, double median) {
    SequencedMap<String, Object> map = new LinkedHashMap<>();
    map.put("value", term.value());
    map.put("ceiling", term.ceiling());
    map.put("formula", term.formula());
    if (term.value() != 0) {
      map.put("residual", median / term.value() - 1);
    }
    return map;
  }

  private static SequencedMap<String, Object> expectation(Expectations.Found found) {
    SequencedMap<String, Object> map = new LinkedHashMap<>();
    map.put("expected", found.expectation().text());
    map.put("verdict", found.verdict().text());
    map.put("found", found.why());
    map.put("source", found.expectation().scope().source());
    if (!found.expectation().scope().known().isEmpty()) {
      map.put("known", found.expectation().scope().known());
    }
    return map;
  }

  private static SequencedMap<String, Object> crossover(Crossings.Found found) {
    SequencedMap<String, Object> map = new LinkedHashMap<>();
    map.put("metric", found.contrast().metric());
    map.put("between", List.of(found.contrast().first(), found.contrast().second()));
    map.put("over", found.contrast().over());
    if (!found.by().isEmpty()) {
      map.put(found.contrast().by(), found.by());
    }
    found.others().forEach((name, value) -> map.put(name, plain(value)));
    map.put("first_lower", SummaryFiles.lead(found, found.crossover().firstLead()));
    List<Object> crossings = new ArrayList<>();
    for (Crossing crossing : found.crossover().crossings()) {
      SequencedMap<String, Object> one = new LinkedHashMap<>();
      one.put("at", crossing.size());
      crossing
          .interval()
          .ifPresent(
              ci -> {
                one.put("ci95", List.of(ci.lower(), ci.upper()));
                one.put("support", crossing.support());
              });
      one.put("between_values", List.of(crossing.below(), crossing.above()));
      one.put("lower_before", SummaryFiles.lead(found, crossing.before()));
      crossings.add(one);
    }
    map.put("crossings", crossings);
    return map;
  }
}
