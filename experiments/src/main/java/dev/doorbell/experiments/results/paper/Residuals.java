package dev.doorbell.experiments.results.paper;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Table.Column;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Summary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Two runs of one question side by side, measured and modelled: the residual in each row. */
final class Residuals {
  private Residuals() {}

  /**
   * One row for each point and metric that both have; points are matched by the axes of both.
   *
   * @throws IOException when there is none
   */
  static Table of(RunData measured, RunData modelled) throws IOException {
    List<Axis> axes =
        measured.axes().stream()
            .filter(axis -> modelled.axes().stream().anyMatch(o -> o.name().equals(axis.name())))
            .filter(axis -> varies(measured, axis) && varies(modelled, axis))
            .toList();
    List<List<String>> rows = new ArrayList<>();
    for (SummaryRow here : measured.rows()) {
      for (SummaryRow there : modelled.rows()) {
        if (axes.stream().allMatch(axis -> same(axis, here, there))) {
          rows(axes, here, there, rows);
        }
      }
    }
    if (rows.isEmpty()) {
      throw new IOException(
          "%s and %s have no point in common".formatted(measured.runId(), modelled.runId()));
    }
    List<Column> columns = new ArrayList<>();
    axes.forEach(axis -> columns.add(new Column(axis.name(), numeric(axis))));
    columns.add(new Column("metric", false));
    columns.add(new Column(measured.basis().word(), true));
    columns.add(new Column("[95 % interval]", true));
    columns.add(new Column(modelled.basis().word(), true));
    columns.add(new Column("residual", true));
    return new Table(
        columns,
        rows,
        List.of(
            "%s: run %s; %s: run %s; the residual is (%s − %s) / %s"
                .formatted(
                    measured.basis().word(),
                    measured.runId(),
                    modelled.basis().word(),
                    modelled.runId(),
                    modelled.basis().word(),
                    measured.basis().word(),
                    measured.basis().word())));
  }

  private static boolean varies(RunData run, Axis axis) {
    return run.rows().stream().map(row -> row.axes().get(axis.name())).distinct().count() > 1;
  }

  private static boolean numeric(Axis axis) {
    return axis.values().stream().allMatch(value -> value instanceof Value.Whole);
  }

  private static boolean same(Axis axis, SummaryRow here, SummaryRow there) {
    Value value = here.axes().get(axis.name());
    return value != null && value.equals(there.axes().get(axis.name()));
  }

  private static void rows(
      List<Axis> axes, SummaryRow here, SummaryRow there, List<List<String>> rows) {
    for (Map.Entry<String, MetricRow> entry : here.metrics().entrySet()) {
      MetricRow metric = entry.getValue();
      MetricRow other = there.metrics().get(entry.getKey());
      if (other == null || metric.samples().size() == 0 || other.samples().size() == 0) {
        continue;
      }
      Summary measured = SummaryFiles.summary(here, metric);
      double modelled = SummaryFiles.summary(there, other).median();
      boolean time = metric.samples().unit().equals("ns");
      double scale = time ? 1000 : 1;
      List<String> row = new ArrayList<>();
      for (Axis axis : axes) {
        Value value = here.axes().get(axis.name());
        boolean bytes = axis.unit().equals("B") && value instanceof Value.Whole;
        row.add(
            value == null
                ? "–"
                : bytes
                    ? Units.quantity((double) ((Value.Whole) value).value(), "B")
                    : value.text());
      }
      row.add((entry.getKey() + " " + (time ? "µs" : metric.samples().unit())).strip());
      row.add(Units.digits(measured.median() / scale, 3));
      row.add(
          "[%s, %s]"
              .formatted(
                  Units.digits(measured.lower() / scale, 3),
                  Units.digits(measured.upper() / scale, 3)));
      row.add(Units.digits(modelled / scale, 3));
      row.add(PaperBuild.residual(modelled / measured.median() - 1));
      rows.add(row);
    }
  }
}
