package dev.doorbell.experiments.results.paper;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Summary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Two runs of one question side by side, measured and modelled, with the error in each row. */
final class ResidualTable {
  private ResidualTable() {}

  private record Pair(SummaryRow row, String name, String unit, Summary measured, double modelled) {
    String shown(double value) {
      return Units.digits(unit.equals("ns") ? value / 1000 : value, 3);
    }

    String at(Axis axis) {
      Value value = Objects.requireNonNull(row.axes().get(axis.name()));
      return value instanceof Value.Whole(long whole) && axis.unit().equals("B")
          ? Units.quantity((double) whole, "B")
          : value.text();
    }
  }

  /** One row for each point and metric that both have; points are matched by the axes of both. */
  static Table of(RunData measured, RunData modelled) throws IOException {
    List<Axis> axes =
        measured.axes().stream()
            .filter(axis -> modelled.axes().stream().anyMatch(o -> o.name().equals(axis.name())))
            .filter(axis -> varies(measured, axis) && varies(modelled, axis))
            .toList();
    List<Pair> pairs = new ArrayList<>();
    for (SummaryRow here : measured.rows()) {
      for (SummaryRow there : modelled.rows()) {
        if (axes.stream().allMatch(axis -> same(axis, here, there))) {
          pair(here, there, pairs);
        }
      }
    }
    if (pairs.isEmpty()) {
      throw new IOException(
          "%s and %s have no point in common".formatted(measured.runId(), modelled.runId()));
    }
    String first = measured.basis().word();
    String second = modelled.basis().word();
    TableBuilder<Pair> table = new TableBuilder<>();
    for (Axis axis : axes) {
      boolean numeric = axis.values().stream().allMatch(Value.Whole.class::isInstance);
      table.column(axis.name(), numeric, pair -> pair.at(axis));
    }
    return table
        .left("metric", pair -> Units.heading(pair.name(), pair.unit()))
        .right(first, pair -> pair.shown(pair.measured().median()))
        .right(
            "[95 % CI]",
            pair ->
                pair.measured()
                    .interval()
                    .map(ci -> "[%s, %s]".formatted(pair.shown(ci.lower()), pair.shown(ci.upper())))
                    .orElse(Names.NONE))
        .right(second, pair -> pair.shown(pair.modelled()))
        .right("error", pair -> PaperBuild.error(pair.modelled() / pair.measured().median() - 1))
        .table(
            pairs,
            List.of(
                "%s: run %s; %s: run %s; the error is (%s − %s) / %s"
                    .formatted(
                        first, measured.runId(), second, modelled.runId(), second, first, first)));
  }

  private static boolean varies(RunData run, Axis axis) {
    return run.rows().stream().map(row -> row.axes().get(axis.name())).distinct().count() > 1;
  }

  private static boolean same(Axis axis, SummaryRow here, SummaryRow there) {
    Value value = here.axes().get(axis.name());
    return value != null && value.equals(there.axes().get(axis.name()));
  }

  private static void pair(SummaryRow here, SummaryRow there, List<Pair> pairs) {
    here.metrics()
        .forEach(
            (name, metric) -> {
              MetricRow other = there.metrics().get(name);
              if (other != null && metric.samples().size() > 0 && other.samples().size() > 0) {
                pairs.add(
                    new Pair(
                        here,
                        name,
                        metric.samples().unit(),
                        SummaryFiles.summary(here, metric),
                        SummaryFiles.summary(there, other).median()));
              }
            });
  }
}
