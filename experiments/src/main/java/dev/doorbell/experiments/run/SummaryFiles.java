package dev.doorbell.experiments.run;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.core.print.CsvCell;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.stats.Crossover;
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

  /** Computes the statistics of every point, on all cores; whoever asks for them finds them. */
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
}
