package dev.doorbell.experiments.cli.results;

import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.config.Axis;
import dev.doorbell.experiments.config.Value;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.LatencyFit;
import dev.doorbell.experiments.stats.LogGpFit;
import dev.doorbell.experiments.stats.Percentiles;
import dev.doorbell.experiments.stats.PiecewiseFit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Tables of one aspect of a run: tails, and lines over message size. */
final class Views {
  private static final String SIZE = "size";

  private Views() {}

  /** A row a point and metric. */
  static String percentiles(RunData data) {
    TextTable table =
        new TextTable().left("point").left("metric").right("p50").right("p90").right("p99");
    table.right("p99.9").right("p99.99").right("max").right("n");
    for (SummaryRow row : data.rows()) {
      for (MetricRow metric : row.metrics().values()) {
        double[] values = metric.samples().values();
        if (values.length == 0 || Arrays.stream(values).anyMatch(value -> value < 0)) {
          continue;
        }
        Percentiles tail = Percentiles.of(values);
        boolean time = metric.samples().unit().equals("ns");
        DoubleFunction<String> show = time ? Show::micros : Show::digits;
        String unit = time ? "us" : metric.samples().unit();
        List<String> cells =
            new ArrayList<>(
                List.of(row.pointId(), (metric.samples().metric() + " " + unit).strip()));
        for (double value :
            new double[] {
              tail.p50(), tail.p90(), tail.p99(), tail.p999(), tail.p9999(), tail.max()
            }) {
          cells.add(show.apply(value));
        }
        cells.add(Long.toString(tail.n()));
        table.row(cells);
      }
    }
    return table.text()
        + "percentiles of n samples say nothing beyond the n-th part: p99.9 needs a thousand\n"
        + Show.basis(data.basis())
        + "\n";
  }

  /** Medians of one line over size. */
  private record Line(SortedMap<Double, Double> latencies, SortedMap<Double, Double> intervals) {
    Line() {
      this(new TreeMap<>(), new TreeMap<>());
    }
  }

  /** A row for each setting of the axes other than size. */
  static String fits(RunData data) {
    TextTable table = new TextTable().left("line").right("alpha us").right("GB/s").right("worst");
    table.right("knee").right("GB/s below").right("above").right("worst");
    table.right("L+2o us").right("g us").right("G ns/B").right("worst");
    for (Map.Entry<String, Line> entry : lines(data).entrySet()) {
      double[] sizes = numbers(entry.getValue().latencies.keySet().stream().toList());
      double[] latencies = numbers(entry.getValue().latencies.values().stream().toList());
      List<String> cells = new ArrayList<>(List.of(entry.getKey()));
      if (sizes.length < 3) {
        continue;
      }
      LatencyFit line = LatencyFit.of(sizes, latencies, LatencyFit.Weighting.RELATIVE);
      cells.add(Show.micros(line.alpha()));
      cells.add(rate(line.gap()));
      cells.add(share(line.worstResidual()));
      PiecewiseFit.worthwhile(sizes, latencies)
          .ifPresentOrElse(
              knee ->
                  cells.addAll(
                      List.of(
                          Show.roughBytes(knee.knee()),
                          rate(knee.below()),
                          rate(knee.above()),
                          share(knee.worstResidual()))),
              () -> cells.addAll(List.of("-", "-", "-", "-")));
      cells.addAll(logGp(entry.getValue(), sizes, latencies));
      table.row(cells);
    }
    return table.text()
        + "alpha + N/B fitted to medians of the latency, relative errors squared; worst: the"
        + " greatest relative error;\na knee is shown where two lines halve it; LogGP from"
        + " latency and goodput together\n"
        + Show.basis(data.basis())
        + "\n";
  }

  private static List<String> logGp(Line line, double[] sizes, double[] latencies) {
    if (!line.intervals.keySet().equals(line.latencies.keySet()) || !(sizes[0] >= 1)) {
      return List.of("-", "-", "-", "-");
    }
    double[] intervals = numbers(line.intervals.values().stream().toList());
    LogGpFit fit = LogGpFit.of(sizes, latencies, intervals);
    return List.of(
        Show.micros(fit.latency()),
        Show.micros(fit.gap()),
        Show.digits(fit.byteGap()),
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
    return value == null ? "-" : value.text();
  }

  private static double[] numbers(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static String rate(double gap) {
    return gap > 0 ? Show.digits(1 / gap) : "-";
  }

  private static String share(double value) {
    return String.format(Locale.ROOT, "%.1f %%", value * 100);
  }
}
