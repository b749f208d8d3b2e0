package dev.doorbell.experiments.results.tables;

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
import java.util.Map;

/** Tables of one aspect of a run's samples: tails and warnings. */
public final class SampleTables {
  private SampleTables() {}

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
}
