package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.config.condition.Contrast;
import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Table.Column;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.Crossings;
import dev.doorbell.experiments.run.Expectations;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Crossover;
import dev.doorbell.experiments.stats.Crossover.Crossing;
import dev.doorbell.experiments.stats.Crossover.Lead;
import dev.doorbell.experiments.stats.Interval;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a run. Each has units in its headings, intervals beside medians, and the basis of
 * its numbers below; the bytes depend on the run alone.
 */
public final class RunTables {

  private RunTables() {}

  /**
   * One row a finished point: every metric's median, interval, 99th percentile, and distance from
   * the model.
   */
  public static Table summary(RunData run) {
    return summary(run, row -> true);
  }

  /** The summary of those points that {@code wanted} accepts. */
  public static Table summary(RunData run, Predicate<SummaryRow> wanted) {
    List<SummaryRow> rows = run.rows().stream().filter(wanted).toList();
    List<Column> columns = new ArrayList<>();
    varying(run).forEach(axis -> columns.add(new Column(axis.name(), numeric(axis))));
    SequencedMap<String, MetricColumns> metrics = metrics(rows);
    metrics.values().forEach(metric -> columns.addAll(metric.columns()));
    List<List<String>> cells = new ArrayList<>();
    for (SummaryRow row : rows) {
      List<String> line = axisCells(run, row);
      metrics.forEach((name, metric) -> line.addAll(metric.cells(row, row.metrics().get(name))));
      cells.add(line);
    }
    return new Table(columns, cells, notes(run));
  }

  /**
   * One row a finished point: what was counted there, such as TLP bytes, link crossings and fences.
   */
  public static Table counters(RunData run) {
    SequencedMap<String, String> units = new LinkedHashMap<>();
    for (SummaryRow row : run.rows()) {
      row.counters().forEach((name, quantity) -> units.putIfAbsent(name, quantity.unit()));
    }
    List<Column> columns = new ArrayList<>();
    varying(run).forEach(axis -> columns.add(new Column(axis.name(), numeric(axis))));
    units.forEach((name, unit) -> columns.add(new Column((name + " " + unit).strip(), true)));
    List<List<String>> cells = new ArrayList<>();
    for (SummaryRow row : run.rows()) {
      List<String> line = axisCells(run, row);
      for (String name : units.keySet()) {
        Quantity quantity = row.counters().get(name);
        line.add(quantity == null ? Names.NONE : counted(quantity.value()));
      }
      cells.add(line);
    }
    return new Table(columns, cells, notes(run));
  }

  /** Means of counts have no end of digits. */
  private static String counted(double value) {
    return value == Math.rint(value) ? Units.plain(value) : Units.digits(value, 5);
  }

  /**
   * One row for each pair and place that the config asks about: who is ahead, and from which size
   * on.
   */
  public static Table crossovers(RunData run) {
    List<Column> columns =
        List.of(
            new Column("metric", false),
            new Column("lines", false),
            new Column("where", false),
            new Column("lower", false),
            new Column("up to", true),
            new Column("95 % interval", true),
            new Column("then", false),
            new Column("support", true));
    List<List<String>> cells = new ArrayList<>();
    Crossings.of(run).forEach(found -> crossoverRows(run, found, cells));
    return new Table(columns, cells, notes(run));
  }

  /** One row for each thing that the config expects: whether it came so, and what was found. */
  public static Table expectations(RunData run) {
    List<List<String>> cells = new ArrayList<>();
    boolean known = false;
    for (Expectations.Found found : Expectations.of(run)) {
      Expectation.Scope scope = found.expectation().scope();
      boolean missed = found.verdict() == Expectations.Verdict.NOT_MET && !scope.known().isEmpty();
      known |= missed;
      cells.add(
          List.of(
              found.verdict().text(),
              found.expectation().text(),
              found.why(),
              scope.source(),
              missed ? scope.known() : ""));
    }
    List<Column> columns = new ArrayList<>();
    for (String heading : List.of("verdict", "expected", "found", "source", "known why")) {
      columns.add(new Column(heading, false));
    }
    return known
        ? new Table(columns, cells, notes(run))
        : new Table(
            columns.subList(0, 4),
            cells.stream().map(row -> row.subList(0, 4)).toList(),
            notes(run));
  }

  private static void crossoverRows(RunData run, Crossings.Found found, List<List<String>> cells) {
    Contrast contrast = found.contrast();
    Crossover crossover = found.crossover();
    String lines = contrast.first() + " / " + contrast.second();
    String where =
        Stream.concat(
                Stream.of(found.by()),
                found.others().entrySet().stream().map(e -> e.getKey() + " " + e.getValue().text()))
            .filter(part -> !part.isEmpty())
            .collect(Collectors.joining(", "));
    String unit = unit(run, contrast.over());
    if (crossover.crossings().isEmpty()) {
      String ahead = name(contrast, crossover.firstLead());
      cells.add(
          List.of(
              contrast.metric(),
              lines,
              where,
              ahead,
              "all sizes",
              Names.NONE,
              Names.NONE,
              Names.NONE));
    }
    for (Crossing crossing : crossover.crossings()) {
      Lead after = crossing.before() == Lead.A ? Lead.B : Lead.A;
      Interval interval = crossing.interval();
      cells.add(
          List.of(
              contrast.metric(),
              lines,
              where,
              name(contrast, crossing.before()),
              Units.quantity(crossing.size(), unit),
              "["
                  + Units.quantity(interval.lower(), unit)
                  + ", "
                  + Units.quantity(interval.upper(), unit)
                  + "]",
              name(contrast, after),
              Units.fixed(100 * crossing.support(), 0) + " %"));
    }
  }

  private static String name(Contrast contrast, Lead lead) {
    return switch (lead) {
      case A -> contrast.first();
      case B -> contrast.second();
      case NEITHER -> "neither";
    };
  }

  /** How one metric shows in a summary: which columns it has, in which unit, to which precision. */
  private record MetricColumns(
      String name, String unit, int divisor, int decimals, boolean estimated, boolean bounded) {

    static MetricColumns of(String name, String unit, boolean estimated, boolean bounded) {
      return unit.equals("ns")
          ? new MetricColumns(name, "µs", 1000, 3, estimated, bounded)
          : new MetricColumns(name, unit, 1, 3, estimated, bounded);
    }

    List<Column> columns() {
      List<Column> columns = new ArrayList<>();
      columns.add(new Column((name + " " + unit).strip(), true));
      columns.add(new Column("[95 % interval]", true));
      if (tailed()) {
        columns.add(new Column("p99", true));
      }
      if (estimated) {
        columns.add(new Column("model", true));
        columns.add(new Column("residual", true));
      }
      if (bounded) {
        columns.add(new Column("ceiling", true));
        columns.add(new Column("reached", true));
      }
      return columns;
    }

    List<String> cells(SummaryRow row, @Nullable MetricRow metric) {
      List<String> cells = new ArrayList<>();
      if (metric == null || metric.samples().size() == 0) {
        columns().forEach(column -> cells.add(Names.NONE));
        return cells;
      }
      Summary summary = SummaryFiles.summary(row, metric);
      cells.add(scaled(summary.median()));
      cells.add("[" + scaled(summary.lower()) + ", " + scaled(summary.upper()) + "]");
      if (tailed()) {
        cells.add(scaled(summary.p99()));
      }
      Optional<Prediction.Term> term = metric.model();
      if (estimated) {
        Optional<Double> model = term.filter(t -> !t.ceiling()).map(Prediction.Term::value);
        cells.add(model.map(this::scaled).orElse(Names.NONE));
        cells.add(model.map(m -> signedPercent(summary.median() / m - 1)).orElse(Names.NONE));
      }
      if (bounded) {
        Optional<Double> bound = term.filter(Prediction.Term::ceiling).map(Prediction.Term::value);
        cells.add(bound.map(this::scaled).orElse(Names.NONE));
        cells.add(
            bound.map(b -> Units.fixed(100 * summary.median() / b, 1) + " %").orElse(Names.NONE));
      }
      return cells;
    }

    /** Whether the high end is the bad one; of a rate it is the good one and says little. */
    private boolean tailed() {
      return divisor == 1000;
    }

    private String scaled(double value) {
      return Units.fixed(value / divisor, decimals);
    }

    private static String signedPercent(double ratio) {
      String percent = Units.fixed(100 * Math.abs(ratio), 1) + " %";
      return (percent.equals("0.0 %") ? "" : ratio < 0 ? "−" : "+") + percent;
    }
  }

  private static SequencedMap<String, MetricColumns> metrics(List<SummaryRow> rows) {
    SequencedMap<String, MetricColumns> columns = new LinkedHashMap<>();
    for (SummaryRow row : rows) {
      row.metrics()
          .forEach(
              (name, metric) -> {
                boolean estimated = metric.model().filter(t -> !t.ceiling()).isPresent();
                boolean bounded = metric.model().filter(Prediction.Term::ceiling).isPresent();
                columns.merge(
                    name,
                    MetricColumns.of(name, metric.samples().unit(), estimated, bounded),
                    (a, b) ->
                        MetricColumns.of(
                            name,
                            metric.samples().unit(),
                            a.estimated() || b.estimated(),
                            a.bounded() || b.bounded()));
              });
    }
    return columns;
  }

  /** An axis with one value would be a column that says the same in every row: a note says it. */
  private static List<Axis> varying(RunData run) {
    return run.axes().size() == 1
        ? run.axes()
        : run.axes().stream().filter(axis -> axis.values().size() > 1).toList();
  }

  private static List<String> axisCells(RunData run, SummaryRow row) {
    List<String> cells = new ArrayList<>();
    varying(run).forEach(axis -> cells.add(Names.cell(axis, row.axes().get(axis.name()))));
    return cells;
  }

  private static boolean numeric(Axis axis) {
    return !axis.values().isEmpty()
        && axis.values().stream()
            .allMatch(value -> value instanceof Value.Whole || value instanceof Value.Real);
  }

  private static String unit(RunData run, String axis) {
    return run.axes().stream()
        .filter(candidate -> candidate.name().equals(axis))
        .map(Axis::unit)
        .findFirst()
        .orElse("");
  }

  /** Notes of a table's own, then what is the same in all rows, and the basis. */
  public static List<String> notes(RunData run, String... own) {
    return Stream.concat(Stream.of(own), notes(run).stream()).toList();
  }

  private static List<String> notes(RunData run) {
    String same =
        run.axes().stream()
            .filter(axis -> !varying(run).contains(axis) && !axis.values().isEmpty())
            .map(axis -> axis.name() + " " + Names.cell(axis, axis.values().getFirst()))
            .collect(Collectors.joining(", "));
    String basis =
        "basis: %s; medians with 95 %% bootstrap intervals; run %s, config %s"
            .formatted(Names.basis(run.basis()), run.runId(), Names.shortened(run.configHash()));
    return same.isEmpty() ? List.of(basis) : List.of("all at " + same, basis);
  }
}
