package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.SampleWarning;
import dev.doorbell.experiments.stats.Statistic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Tables of one aspect of a run's samples: tails and warnings. */
public final class SampleTables {
  private SampleTables() {}

  /** Distributions of the samples of each point and metric, as text. */
  public static String histograms(RunData run, int width) {
    StringBuilder text = new StringBuilder();
    for (SummaryRow row : run.rows()) {
      for (MetricRow metric : row.metrics().values()) {
        if (metric.samples().size() > 0) {
          text.append(
              "%s  %s  n = %d%n"
                  .formatted(row.pointId(), metric.samples().metric(), metric.samples().size()));
          text.append(histogram(metric.samples().values(), metric.samples().unit(), width));
        }
      }
    }
    return text.append(Screen.basis(run.basis())).append('\n').toString();
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Tail(SummaryRow row, MetricRow metric, double[] values) {
    boolean time() {
      return metric.samples().unit().equals("ns");
    }

    String shown(double value) {
      return time() ? micros(value) : Units.digits(value, 4);
    }
  }

  /** The tails: a row for each point and metric. */
  public static Table percentiles(RunData run) {
    List<Tail> tails = new ArrayList<>();
    for (SummaryRow row : run.rows()) {
      for (MetricRow metric : row.metrics().values()) {
        double[] values = metric.samples().values();
        if (values.length > 0 && Arrays.stream(values).noneMatch(value -> value < 0)) {
          tails.add(new Tail(row, metric, values));
        }
      }
    }
    TableBuilder<Tail> table =
        new TableBuilder<Tail>()
            .left("point", tail -> tail.row().pointId())
            .left(
                "metric",
                tail ->
                    Units.heading(
                        tail.metric().samples().metric(), tail.metric().samples().unit()));
    for (String word : List.of("p50", "p90", "p99", "p99.9", "p99.99", "max")) {
      Statistic statistic = Statistic.of(word);
      table.right(word, tail -> tail.shown(statistic.value(tail.values())));
    }
    return table
        .right("n", tail -> Integer.toString(tail.values().length))
        .table(
            tails,
            RunTables.notes(
                run,
                "n samples say nothing beyond their n-th part: p99.9 needs a thousand of them"));
  }

  private record Raised(String point, String metric, SampleWarning warning) {}

  /** Samples that statistics may misjudge: a row for each point, metric and warning. */
  public static Table warnings(RunData run) {
    List<Raised> raised = new ArrayList<>();
    Map<SampleWarning.Kind, String> advice = new EnumMap<>(SampleWarning.Kind.class);
    for (SummaryRow row : run.rows()) {
      row.metrics()
          .forEach(
              (name, metric) -> {
                for (SampleWarning warning : metric.warnings()) {
                  raised.add(new Raised(row.pointId(), name, warning));
                  advice.put(warning.kind(), warning.kind().word() + ": " + warning.advice());
                }
              });
    }
    return new TableBuilder<Raised>()
        .left("point", Raised::point)
        .left("metric", Raised::metric)
        .left("warning", each -> each.warning().kind().word())
        .left("why", each -> each.warning().what())
        .table(
            raised,
            RunTables.notes(
                run,
                raised.isEmpty()
                    ? new String[] {"no warnings"}
                    : advice.values().toArray(String[]::new)));
  }

  /** Microseconds to the nanosecond, so that columns line up. */
  private static String micros(double nanos) {
    return Units.fixed(nanos / 1000, 3);
  }

  private static final int MOST_CLASSES = 12;
  private static final int FEWEST_CLASSES = 4;
  private static final int LABEL = 10;
  private static final int COUNT = 8;

  private static String histogram(double[] samples, String unit, int width) {
    double low = Arrays.stream(samples).min().orElseThrow();
    double high = Arrays.stream(samples).max().orElseThrow();
    if (low == high) {
      return "  all %s%n".formatted(Units.quantity(low, unit).replace('\u00A0', ' '));
    }
    int[] counts = new int[classes(samples, low, high)];
    for (double sample : samples) {
      int at = (int) ((sample - low) / (high - low) * counts.length);
      counts[Math.min(at, counts.length - 1)]++;
    }
    int most = Arrays.stream(counts).max().orElseThrow();
    int room = Math.clamp(width - 2L * LABEL - COUNT - 8, 10, 60);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < counts.length; i++) {
      int bar = (int) Math.ceil((double) counts[i] * room / most);
      text.append(
          String.format(
              Locale.ROOT,
              "  %" + LABEL + "s to %" + LABEL + "s  %s %d",
              end(low, high, i, counts.length, unit),
              end(low, high, i + 1, counts.length, unit),
              "#".repeat(bar),
              counts[i]));
      text.append('\n');
    }
    return text.toString();
  }

  private static String end(double low, double high, int at, int classes, String unit) {
    return Units.quantity(low + (high - low) * at / classes, unit).replace('\u00A0', ' ');
  }

  /**
   * D. Freedman and P. Diaconis, "On the histogram as a density estimator", Zeitschrift für
   * Wahrscheinlichkeitstheorie 57, 1981: classes of twice the quartiles' distance over the cube
   * root of n, within what a terminal shows.
   */
  private static int classes(double[] samples, double low, double high) {
    double[] sorted = samples.clone();
    Arrays.sort(sorted);
    double quartiles = sorted[3 * (sorted.length - 1) / 4] - sorted[(sorted.length - 1) / 4];
    double wide = 2 * quartiles / Math.cbrt(sorted.length);
    return wide == 0
        ? MOST_CLASSES
        : (int) Math.clamp(Math.ceil((high - low) / wide), FEWEST_CLASSES, MOST_CLASSES);
  }
}
