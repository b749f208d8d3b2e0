package dev.doorbell.experiments.figures;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Summary;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** The summary of a run for other programs; {@link Tables#csv} says in which form. */
final class SummaryCsv {

  private static final List<String> STATISTICS =
      List.of("median", "lower", "upper", "p99", "min", "max");

  /** The statistics, their number of samples, the model's estimate and its ceiling. */
  private static final int METRIC_COLUMNS = STATISTICS.size() + 3;

  private SummaryCsv() {}

  static String of(RunData run) {
    SequencedMap<String, String> metrics = new LinkedHashMap<>();
    SequencedMap<String, String> counters = new LinkedHashMap<>();
    for (SummaryRow row : run.rows()) {
      row.metrics().forEach((name, metric) -> metrics.putIfAbsent(name, metric.samples().unit()));
      row.counters().forEach((name, quantity) -> counters.putIfAbsent(name, quantity.unit()));
    }
    StringWriter out = new StringWriter();
    try (CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(out)) {
      csv.writeRecord(csvHeadings(run, metrics, counters));
      for (SummaryRow row : run.rows()) {
        List<String> line = new ArrayList<>();
        run.axes().forEach(axis -> line.add(Tables.text(row, axis)));
        metrics.keySet().forEach(name -> csvMetric(row, row.metrics().get(name), line));
        for (String name : counters.keySet()) {
          Quantity quantity = row.counters().get(name);
          line.add(quantity == null ? "" : Units.plain(quantity.value()));
        }
        line.add(run.basis().word());
        csv.writeRecord(line);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toString();
  }

  private static List<String> csvHeadings(
      RunData run, Map<String, String> metrics, Map<String, String> counters) {
    List<String> headings = new ArrayList<>();
    run.axes().forEach(axis -> headings.add(withUnit(axis.name(), axis.unit())));
    metrics.forEach(
        (name, unit) -> {
          for (String part : STATISTICS) {
            headings.add(withUnit(name + "." + part, unit));
          }
          headings.add(name + ".n");
          headings.add(withUnit(name + ".model", unit));
          headings.add(withUnit(name + ".ceiling", unit));
        });
    counters.forEach((name, unit) -> headings.add(withUnit(name, unit)));
    headings.add("basis");
    return headings;
  }

  private static String withUnit(String name, String unit) {
    return unit.isEmpty() ? name : name + "[" + unit + "]";
  }

  private static void csvMetric(SummaryRow row, @Nullable MetricRow metric, List<String> line) {
    if (metric == null || metric.samples().size() == 0) {
      for (int i = 0; i < METRIC_COLUMNS; i++) {
        line.add("");
      }
      return;
    }
    Summary s = Summary.of(metric.samples().values(), row.seed());
    for (double value :
        new double[] {s.median(), s.lower(), s.upper(), s.p99(), s.min(), s.max()}) {
      line.add(Units.plain(value));
    }
    line.add(Integer.toString(s.n()));
    line.add(term(metric, false));
    line.add(term(metric, true));
  }

  private static String term(MetricRow metric, boolean ceiling) {
    return metric
        .model()
        .filter(term -> term.ceiling() == ceiling)
        .map(term -> Units.plain(term.value()))
        .orElse("");
  }
}
