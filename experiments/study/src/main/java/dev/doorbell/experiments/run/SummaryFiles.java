package dev.doorbell.experiments.run;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.core.print.CsvCell;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.stats.Crossover;
import dev.doorbell.experiments.stats.Crossover.Crossing;
import dev.doorbell.experiments.stats.SampleSize;
import dev.doorbell.experiments.stats.Summary;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * The summary of a run as CSV and as JSON: pure functions of the samples. Neither says when or
 * where the run was, so that two runs with the same seed give the same bytes.
 */
public final class SummaryFiles {
  private static final String[] STATISTICS = {"p50", "lower", "upper", "p99", "min", "max"};

  private SummaryFiles() {}

  /**
   * A row a point, in plan order. Columns: point, axes, basis, statistics of each sampled metric
   * with its prediction, counters. {@code lower} and {@code upper} bound the median's 95 %
   * interval; they and {@code p99} are empty where {@link SampleSize} says that the samples do not
   * carry them.
   */
  public static String csv(RunData data) {
    SequencedMap<String, String> metrics = new LinkedHashMap<>();
    SequencedMap<String, String> counters = new LinkedHashMap<>();
    for (SummaryRow row : data.rows()) {
      row.metrics().forEach((name, metric) -> metrics.putIfAbsent(name, metric.samples().unit()));
      row.counters().forEach((name, counter) -> counters.putIfAbsent(name, counter.unit()));
    }
    StringWriter text = new StringWriter();
    try (CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text)) {
      csv.writeRecord(header(data, metrics, counters));
      for (SummaryRow row : data.rows()) {
        csv.writeRecord(cells(data, row, metrics.sequencedKeySet(), counters.sequencedKeySet()));
      }
    } catch (IOException e) {
      throw new IllegalStateException("a string took no more text", e);
    }
    return text.toString();
  }

  private static List<String> header(
      RunData data, Map<String, String> metrics, Map<String, String> counters) {
    List<String> header = new ArrayList<>(List.of("point"));
    for (Axis axis : data.axes()) {
      header.add(withUnit(axis.name(), axis.unit()));
    }
    header.add("basis");
    metrics.forEach(
        (name, unit) -> {
          for (String statistic : STATISTICS) {
            header.add(withUnit(name + "." + statistic, unit));
          }
          header.add(name + ".n");
          header.add(withUnit(name + ".model", unit));
        });
    counters.forEach((name, unit) -> header.add(withUnit(name, unit)));
    return header;
  }

  private static List<String> cells(
      RunData data, SummaryRow row, SequencedSet<String> metrics, SequencedSet<String> counters) {
    List<String> cells = new ArrayList<>(List.of(CsvCell.text(row.pointId())));
    for (Axis axis : data.axes()) {
      var value = row.axes().get(axis.name());
      cells.add(value == null ? "" : CsvCell.text(value.text()));
    }
    cells.add(data.basis().word());
    for (String name : metrics) {
      MetricRow metric = row.metrics().get(name);
      if (metric == null || metric.samples().size() == 0) {
        cells.addAll(Collections.nCopies(STATISTICS.length + 2, ""));
      } else {
        Summary summary = summary(row, metric);
        cells.add(SamplesFile.number(summary.median()));
        cells.add(summary.interval().map(ci -> SamplesFile.number(ci.lower())).orElse(""));
        cells.add(summary.interval().map(ci -> SamplesFile.number(ci.upper())).orElse(""));
        cells.add(summary.p99().isPresent() ? SamplesFile.number(summary.p99().getAsDouble()) : "");
        cells.add(SamplesFile.number(summary.min()));
        cells.add(SamplesFile.number(summary.max()));
        cells.add(Integer.toString(summary.n()));
        cells.add(metric.model().map(term -> SamplesFile.number(term.value())).orElse(""));
      }
    }
    for (String name : counters) {
      Quantity counter = row.counters().get(name);
      cells.add(counter == null ? "" : SamplesFile.number(counter.value()));
    }
    return cells;
  }

  private static String withUnit(String name, String unit) {
    return unit.isEmpty() ? name : "%s [%s]".formatted(name, unit);
  }

  /** The statistics of one metric; the bootstrap starts from the point's seed. */
  public static Summary summary(SummaryRow row, MetricRow metric) {
    return metric.summary(row.seed());
  }

  /** Returns the summary as JSON, with crossovers. */
  public static String json(RunData data) {
    return RunJson.pretty(tree(data));
  }

  /** The summary as maps and lists, in a fixed order. */
  public static SequencedMap<String, Object> tree(RunData data) {
    return SummaryJson.of(data);
  }

  /** The name of the line that is lower; empty where they coincide. */
  public static String lead(Crossings.Found found, Crossover.Lead lead) {
    return switch (lead) {
      case A -> found.contrast().first();
      case B -> found.contrast().second();
      case NEITHER -> "";
    };
  }

  /** Computes the statistics of every point, on all cores, and keeps them. */
  public static void compute(RunData data) {
    data.rows().parallelStream()
        .forEach(
            row ->
                row.metrics().values().stream()
                    .filter(metric -> metric.samples().size() > 0)
                    .forEach(
                        metric -> {
                          summary(row, metric);
                          metric.warnings();
                        }));
  }

  /** Puts both files into the run directory. */
  public static void write(RunDirectory directory, String csv, String json) throws RunException {
    directory.write("summary.csv", csv);
    directory.write("summary.json", json);
  }

  private static final class SummaryJson {
    private SummaryJson() {}

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
      if (term.floor()) {
        map.put("floor", true);
      }
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
}
