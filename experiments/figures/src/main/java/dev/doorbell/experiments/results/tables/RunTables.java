package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.Crossings;
import dev.doorbell.experiments.run.Expectations;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Crossover.Crossing;
import dev.doorbell.experiments.stats.Crossover.Lead;
import dev.doorbell.experiments.stats.SampleSize;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The tables of a run. Each has units in its headings, intervals beside medians, and the basis of
 * its numbers below; the bytes depend on the run alone.
 */
public final class RunTables {

  private RunTables() {}

  /** Columns of a metric, as {@code table --columns} names them. */
  public enum Statistic {
    P50,
    CI,
    N,
    P99,
    MIN,
    MAX,
    FORM,
    VS,
    CREDIT
  }

  /** Columns of a table of results unless others are asked for. */
  public static final List<Statistic> USUAL =
      List.of(
          Statistic.P50, Statistic.CI, Statistic.N, Statistic.P99, Statistic.FORM, Statistic.VS);

  /**
   * The look of a table of results.
   *
   * @param credits published rows that test a point, in words, by the point's id
   */
  public record Look(List<Statistic> statistics, Map<String, String> credits) {
    /** Statistics alone. */
    public Look(List<Statistic> statistics) {
      this(statistics, Map.of());
    }
  }

  /**
   * One row for each finished point: every metric's median, interval, number of samples, 99th
   * percentile, and distance from the model.
   */
  public static Table summary(RunData run) {
    return summary(run, new Look(USUAL), false);
  }

  /**
   * One row for each finished point, with some statistics of every metric.
   *
   * @param counted whether what was counted stands to the right
   */
  public static Table summary(RunData run, Look look, boolean counted) {
    TableBuilder<SummaryRow> table = axes(run);
    SequencedMap<String, String> metrics = new LinkedHashMap<>();
    run.rows()
        .forEach(row -> row.metrics().forEach((name, m) -> metrics.put(name, m.samples().unit())));
    metrics.forEach(
        (name, unit) -> {
          table.group("metric " + name);
          look.statistics().forEach(statistic -> column(run, name, unit, statistic, table));
        });
    if (look.statistics().contains(Statistic.CREDIT)) {
      table.left("tested by", row -> look.credits().getOrDefault(row.pointId(), Names.NONE));
    }
    if (counted) {
      counters(run, table);
    }
    return table.table(run.rows(), notes(run));
  }

  private static void column(
      RunData run, String name, String unit, Statistic statistic, TableBuilder<SummaryRow> table) {
    DoubleFunction<String> shown = value -> Screen.metric(value, unit);
    boolean modelled = run.rows().stream().anyMatch(row -> model(row, name).isPresent());
    switch (statistic) {
      case CREDIT -> {}
      case P50 ->
          table.right(
              Units.heading(name + " p50", unit),
              row -> shown(row, name, each -> shown.apply(each.median())));
      case CI -> {
        if (samples(run, name).anyMatch(SampleSize::carriesInterval)) {
          table.left(
              "[95 % CI]",
              row ->
                  shown(
                      row,
                      name,
                      each ->
                          each.interval()
                              .map(
                                  ci ->
                                      "[%s, %s]"
                                          .formatted(
                                              shown.apply(ci.lower()), shown.apply(ci.upper())))
                              .orElse(Names.NONE)));
        }
      }
      case N -> table.right("n", row -> shown(row, name, each -> Integer.toString(each.n())));
      case P99 -> {
        // Of a rate the high end is the good one and says little.
        if (unit.equals("ns") && samples(run, name).anyMatch(SampleSize::carriesP99)) {
          table.right(
              "p99",
              row ->
                  shown(
                      row,
                      name,
                      each ->
                          each.p99().isPresent()
                              ? shown.apply(each.p99().getAsDouble())
                              : Names.NONE));
        }
      }
      case MIN -> table.right("min", row -> shown(row, name, each -> shown.apply(each.min())));
      case MAX -> table.right("max", row -> shown(row, name, each -> shown.apply(each.max())));
      case FORM -> {
        if (modelled) {
          table.right(
              "form", row -> modelled(row, name, term -> bound(term) + shown.apply(term.value())));
        }
      }
      case VS -> {
        if (modelled) {
          table.right(
              "vs. form",
              row ->
                  shown(
                      row,
                      name,
                      each ->
                          model(row, name)
                              .filter(term -> term.value() != 0)
                              .map(term -> Units.difference(each.median() / term.value() - 1))
                              .orElse(Names.NONE)));
        }
      }
    }
  }

  /** A ceiling or a floor bounds a value, and does not forecast it. */
  private static String bound(Prediction.Term term) {
    return term.ceiling() ? "≤ " : term.floor() ? "≥ " : "";
  }

  private static String modelled(
      SummaryRow row, String name, Function<Prediction.Term, String> shown) {
    return shown(row, name, _ -> model(row, name).map(shown).orElse(Names.NONE));
  }

  private static IntStream samples(RunData run, String metric) {
    return run.rows().stream()
        .flatMap(row -> Stream.ofNullable(row.metrics().get(metric)))
        .mapToInt(each -> each.samples().size());
  }

  private static Optional<Prediction.Term> model(SummaryRow row, String metric) {
    return Optional.ofNullable(row.metrics().get(metric)).flatMap(MetricRow::model);
  }

  private static String shown(SummaryRow row, String name, Function<Summary, String> statistic) {
    MetricRow metric = row.metrics().get(name);
    return metric == null || metric.samples().size() == 0
        ? Names.NONE
        : statistic.apply(SummaryFiles.summary(row, metric));
  }

  /**
   * One row for each finished point: what was counted there, such as TLP bytes, link crossings and
   * fences. Without counters it has no rows.
   */
  public static Table counters(RunData run) {
    TableBuilder<SummaryRow> table = axes(run);
    counters(run, table);
    return table.table(
        run.rows().stream().filter(row -> !row.counters().isEmpty()).toList(), notes(run));
  }

  private static void counters(RunData run, TableBuilder<SummaryRow> table) {
    SequencedMap<String, String> units = new LinkedHashMap<>();
    for (SummaryRow row : run.rows()) {
      row.counters().forEach((name, quantity) -> units.putIfAbsent(name, quantity.unit()));
    }
    units.forEach(
        (name, unit) ->
            table
                .group("counter " + name)
                .right(
                    (name + " " + unit).strip(),
                    row ->
                        Optional.ofNullable(row.counters().get(name))
                            .map(quantity -> counted(quantity.value()))
                            .orElse(Names.NONE)));
  }

  /** Means of counts have no end of digits. */
  private static String counted(double value) {
    return value == Math.rint(value) ? Units.plain(value) : Units.digits(value, 5);
  }

  /** One of the places where two lines cross; none where one of them is lower throughout. */
  private record Place(Crossings.Found found, Optional<Crossing> crossing) {
    String lead(boolean after) {
      Lead first = crossing.map(Crossing::before).orElse(found.crossover().firstLead());
      Lead lead = !after ? first : first == Lead.A ? Lead.B : Lead.A;
      String name = SummaryFiles.lead(found, lead);
      return name.isEmpty() ? "neither" : name;
    }

    String where() {
      return Stream.concat(
              Stream.of(found.by()),
              found.others().entrySet().stream().map(e -> e.getKey() + " " + e.getValue().text()))
          .filter(part -> !part.isEmpty())
          .collect(Collectors.joining(", "));
    }

    String shown(Function<Crossing, String> shown) {
      return crossing.map(shown).orElse(Names.NONE);
    }
  }

  /** One row for each pair and place that the config asks about: who is ahead, and up to where. */
  public static Table crossovers(RunData run) {
    List<Place> places = new ArrayList<>();
    for (Crossings.Found found : Crossings.of(run)) {
      if (found.crossover().crossings().isEmpty()) {
        places.add(new Place(found, Optional.empty()));
      }
      found
          .crossover()
          .crossings()
          .forEach(each -> places.add(new Place(found, Optional.of(each))));
    }
    Function<Place, String> unit = place -> unit(run, place.found().contrast().over());
    return new TableBuilder<Place>()
        .left("metric", place -> place.found().contrast().metric())
        .left(
            "lines",
            place -> place.found().contrast().first() + " / " + place.found().contrast().second())
        .left("where", Place::where)
        .left("lower", place -> place.lead(false))
        .right(
            "up to",
            place ->
                place
                    .crossing()
                    .map(each -> Units.quantity(each.size(), unit.apply(place)))
                    .orElse("all sizes"))
        .right(
            "95 % CI",
            place ->
                place
                    .crossing()
                    .flatMap(Crossing::interval)
                    .map(
                        ci ->
                            "["
                                + Units.quantity(ci.lower(), unit.apply(place))
                                + ", "
                                + Units.quantity(ci.upper(), unit.apply(place))
                                + "]")
                    .orElse(Names.NONE))
        .left("then", place -> place.shown(_ -> place.lead(true)))
        .right(
            "support",
            place ->
                place.shown(
                    each ->
                        each.interval().isPresent()
                            ? Units.fixed(100 * each.support(), 0) + " %"
                            : Names.NONE))
        .table(places, notes(run));
  }

  /** One row for each expectation of the config: whether it was met, and what was found. */
  public static Table expectations(RunData run) {
    List<Expectations.Found> all = Expectations.of(run);
    TableBuilder<Expectations.Found> table =
        new TableBuilder<Expectations.Found>()
            .left("verdict", found -> found.verdict().text())
            .left("expected", found -> found.expectation().text())
            .left("found", Expectations.Found::why)
            .left("source", found -> found.expectation().scope().source());
    if (all.stream().anyMatch(found -> !known(found).isEmpty())) {
      table.left("known why", RunTables::known);
    }
    return table.table(all, notes(run));
  }

  private static String known(Expectations.Found found) {
    return found.verdict() == Expectations.Verdict.NOT_MET
        ? found.expectation().scope().known()
        : "";
  }

  /** An axis with one value would be a column that says the same in every row: a note says it. */
  public static List<Axis> varying(RunData run) {
    return run.axes().size() == 1
        ? run.axes()
        : run.axes().stream().filter(axis -> axis.values().size() > 1).toList();
  }

  private static TableBuilder<SummaryRow> axes(RunData run) {
    TableBuilder<SummaryRow> table = new TableBuilder<>();
    for (Axis axis : varying(run)) {
      table.column(
          axis.name(), numeric(axis), row -> Names.cell(axis, row.axes().get(axis.name())));
    }
    return table;
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
