package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Table.Column;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.LatencyFit;
import dev.doorbell.experiments.stats.LogGpFit;
import dev.doorbell.experiments.stats.Percentiles;
import dev.doorbell.experiments.stats.PiecewiseFit;
import dev.doorbell.experiments.stats.SampleWarning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** RunTables of one aspect of a run's samples: tails, lines over message size, and doubts. */
public final class SampleTables {
  private static final String SIZE = "size";

  private SampleTables() {}

  /** The tails: a row a point and metric. */
  public static Table percentiles(RunData run) {
    List<Column> columns = new ArrayList<>();
    columns.add(new Column("point", false));
    columns.add(new Column("metric", false));
    for (String heading : List.of("p50", "p90", "p99", "p99.9", "p99.99", "max", "n")) {
      columns.add(new Column(heading, true));
    }
    List<List<String>> cells = new ArrayList<>();
    for (SummaryRow row : run.rows()) {
      for (MetricRow metric : row.metrics().values()) {
        double[] values = metric.samples().values();
        if (values.length == 0 || Arrays.stream(values).anyMatch(value -> value < 0)) {
          continue;
        }
        Percentiles tail = Percentiles.of(values);
        boolean time = metric.samples().unit().equals("ns");
        String unit = time ? "µs" : metric.samples().unit();
        List<String> line = new ArrayList<>();
        line.add(row.pointId());
        line.add((metric.samples().metric() + " " + unit).strip());
        for (double value :
            new double[] {
              tail.p50(), tail.p90(), tail.p99(), tail.p999(), tail.p9999(), tail.max()
            }) {
          line.add(time ? micros(value) : Units.digits(value, 4));
        }
        line.add(Long.toString(tail.n()));
        cells.add(line);
      }
    }
    return new Table(
        columns,
        cells,
        RunTables.notes(
            run, "n samples say nothing beyond their n-th part: p99.9 needs a thousand of them"));
  }

  /** Why samples may not be what statistics take them for: a row a point, metric and doubt. */
  public static Table doubts(RunData run) {
    List<List<String>> cells = new ArrayList<>();
    Map<SampleWarning.Kind, String> advice = new EnumMap<>(SampleWarning.Kind.class);
    for (SummaryRow row : run.rows()) {
      row.metrics()
          .forEach(
              (name, metric) -> {
                for (SampleWarning doubt : metric.doubts()) {
                  String kind = doubt.kind().name().toLowerCase(Locale.ROOT);
                  cells.add(List.of(row.pointId(), name, kind, doubt.what()));
                  advice.put(doubt.kind(), kind + ": " + doubt.advice());
                }
              });
    }
    List<Column> columns = new ArrayList<>();
    for (String heading : List.of("point", "metric", "doubt", "why")) {
      columns.add(new Column(heading, false));
    }
    if (cells.isEmpty()) {
      return new Table(columns, cells, RunTables.notes(run, "nothing is in doubt"));
    }
    return new Table(columns, cells, RunTables.notes(run, advice.values().toArray(String[]::new)));
  }

  /** Medians of one line over size. */
  private record Line(SortedMap<Double, Double> latencies, SortedMap<Double, Double> intervals) {
    Line() {
      this(new TreeMap<>(), new TreeMap<>());
    }
  }

  /** Lines over size: a row for each setting of the other axes that has three sizes or more. */
  public static Table fits(RunData run) {
    List<Column> columns = new ArrayList<>();
    columns.add(new Column("line", false));
    for (String heading :
        List.of(
            "α µs",
            "GB/s",
            "worst",
            "knee",
            "GB/s below",
            "above",
            "worst",
            "L+2o µs",
            "g µs",
            "G ns/B",
            "worst")) {
      columns.add(new Column(heading, true));
    }
    List<List<String>> rows = new ArrayList<>();
    for (Map.Entry<String, Line> entry : lines(run).entrySet()) {
      double[] sizes = numbers(entry.getValue().latencies.keySet().stream().toList());
      double[] latencies = numbers(entry.getValue().latencies.values().stream().toList());
      if (sizes.length < 3) {
        continue;
      }
      List<String> cells = new ArrayList<>(List.of(entry.getKey()));
      LatencyFit line = LatencyFit.of(sizes, latencies, LatencyFit.Weighting.RELATIVE);
      cells.add(micros(line.alpha()));
      cells.add(rate(line.gap()));
      cells.add(share(line.worstResidual()));
      PiecewiseFit.worthwhile(sizes, latencies)
          .ifPresentOrElse(
              knee ->
                  cells.addAll(
                      List.of(
                          Units.bytes(knee.knee()),
                          rate(knee.below()),
                          rate(knee.above()),
                          share(knee.worstResidual()))),
              () -> cells.addAll(List.of(Names.NONE, Names.NONE, Names.NONE, Names.NONE)));
      cells.addAll(logGp(entry.getValue(), sizes, latencies));
      rows.add(cells);
    }
    return new Table(
        columns,
        rows,
        RunTables.notes(
            run,
            rows.isEmpty()
                ? "no line has a latency at three sizes or more"
                : "α + N/B fitted to medians of the latency, relative errors squared; worst: the"
                    + " greatest relative error; a knee is shown where two lines halve it; LogGP"
                    + " from latency and goodput together"));
  }

  private static List<String> logGp(Line line, double[] sizes, double[] latencies) {
    if (!line.intervals.keySet().equals(line.latencies.keySet()) || !(sizes[0] >= 1)) {
      return List.of(Names.NONE, Names.NONE, Names.NONE, Names.NONE);
    }
    double[] intervals = numbers(line.intervals.values().stream().toList());
    LogGpFit fit = LogGpFit.of(sizes, latencies, intervals);
    return List.of(
        micros(fit.latency()),
        micros(fit.gap()),
        Units.digits(fit.byteGap(), 4),
        share(fit.worstResidual()));
  }

  private static Map<String, Line> lines(RunData data) {
    Map<String, Line> lines = new LinkedHashMap<>();
    for (SummaryRow row : data.rows()) {
      if (!(row.axes().get(SIZE) instanceof Value.Whole(long size)) || size == 0) {
        continue;
      }
      String name =
          data.axes().stream()
              .map(Axis::name)
              .filter(axis -> !axis.equals(SIZE))
              .map(axis -> text(row.axes().get(axis)))
              .collect(Collectors.joining(" "));
      Line line = lines.computeIfAbsent(name, _ -> new Line());
      median(row, "latency").forEach(median -> line.latencies.put((double) size, median));
      median(row, "goodput").forEach(rate -> line.intervals.put((double) size, size / rate));
    }
    return lines;
  }

  private static List<Double> median(SummaryRow row, String metric) {
    MetricRow samples = row.metrics().get(metric);
    if (samples == null || samples.samples().size() == 0) {
      return List.of();
    }
    double median = SummaryFiles.summary(row, samples).median();
    return median > 0 ? List.of(median) : List.of();
  }

  private static String text(@Nullable Value value) {
    return value == null ? Names.NONE : value.text();
  }

  private static double[] numbers(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static String rate(double gap) {
    return gap > 0 ? Units.digits(1 / gap, 4) : Names.NONE;
  }

  /** Microseconds to the nanosecond, so that columns line up. */
  private static String micros(double nanos) {
    return Units.fixed(nanos / 1000, 3);
  }

  private static String share(double value) {
    return Units.fixed(value * 100, 1) + " %";
  }
}
