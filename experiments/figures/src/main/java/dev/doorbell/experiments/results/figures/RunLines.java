package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.results.figures.FigureValues.Reading;
import dev.doorbell.experiments.results.figures.chart.LineFigure;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Ceiling;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Line;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Mark;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Panel;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Point;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.run.Crossings;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Builds the line figure of a specification from a run. */
final class RunLines {

  private final RunData run;
  private final FigureSpec spec;
  private final List<Crossings.Found> crossings;
  private final List<dev.doorbell.experiments.plan.Point> plan;
  private final Credits credits;

  RunLines(
      RunData run,
      FigureSpec spec,
      List<dev.doorbell.experiments.plan.Point> plan,
      Credits credits) {
    this.plan = plan;
    this.run = run;
    this.spec = spec;
    this.credits = credits;
    this.crossings = Crossings.of(run);
  }

  /**
   * The figure of a specification; empty where no finished point has its metric, as in a run that
   * was interrupted early. An axis of the run that the figure does not speak of, but that varies,
   * makes panels too: no line mixes its values.
   */
  Optional<LineFigure> figure(SeriesWords words) throws Unplottable {
    Axis x = axis(spec.x());
    FigureValues values = new FigureValues(run, spec);
    UnitConversion across = UnitConversion.of(run.runId(), "xunit", x.unit(), spec.style().xUnit());
    List<String> series = words.series();
    String base = words.relative();
    List<Panel> panels = new ArrayList<>();
    places()
        .forEach(
            (place, rows) -> {
              Panel panel = panel(values, across, base, place, rows, series);
              if (!panel.lines().isEmpty()) {
                panels.add(panel);
              }
            });
    if (panels.isEmpty()) {
      return Optional.empty();
    }
    String title = spec.style().named(spec.x()).orElse(Names.title(spec.x()));
    return Optional.of(
        new LineFigure(
            notes(
                values.note() + missing(panels),
                Names.title(spec.y()) + " against " + Names.title(spec.x()),
                words),
            across.quantified(
                title, Boolean.TRUE.equals(spec.logX()) && positive(panels, Point::x)),
            values
                .conversion()
                .quantified(
                    values.title(words.style().shown(Role.SERIES, base)),
                    Boolean.TRUE.equals(spec.logY()) && positive(panels, Point::lower)),
            series.stream().filter(name -> panels.stream().anyMatch(p -> p.has(name))).toList(),
            panels,
            false,
            UnitConversion.limits(run.runId(), spec, across, values.conversion())));
  }

  /**
   * Finished points by place: the values of all varying axes that are neither abscissa nor series.
   */
  private SequencedMap<SequencedMap<String, String>, List<SummaryRow>> places() {
    List<String> facets = spec.facet().isEmpty() ? List.of() : texts(axis(spec.facet()));
    List<Axis> varying =
        run.axes().stream()
            .filter(axis -> axis.values().size() > 1)
            .filter(axis -> !axis.name().equals(spec.x()) && !axis.name().equals(spec.series()))
            .toList();
    Map<SequencedMap<String, String>, List<SummaryRow>> places = new LinkedHashMap<>();
    for (SummaryRow row : ordered(varying)) {
      SequencedMap<String, String> place = new LinkedHashMap<>();
      varying.forEach(axis -> place.put(axis.name(), text(row, axis.name())));
      places.computeIfAbsent(place, _ -> new ArrayList<>()).add(row);
    }
    SequencedMap<SequencedMap<String, String>, List<SummaryRow>> ordered = new LinkedHashMap<>();
    places.entrySet().stream()
        .sorted(
            Comparator.comparingInt(
                entry -> facets.indexOf(entry.getKey().getOrDefault(spec.facet(), ""))))
        .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
    return ordered;
  }

  /** Says why lines have no point where others have one. */
  private String missing(List<Panel> panels) {
    Set<String> finished = run.rows().stream().map(SummaryRow::pointId).collect(Collectors.toSet());
    long without =
        plan.stream()
            .filter(point -> spec.only().stream().allMatch(c -> c.holds(point.settings())))
            .filter(point -> !finished.contains(point.id()))
            .count();
    if (without > 0) {
      return "; %d %s no result".formatted(without, without == 1 ? "point has" : "points have");
    }
    String shorter =
        plan.isEmpty()
            ? ""
            : panels.stream()
                .flatMap(
                    panel ->
                        panel.lines().stream()
                            .filter(line -> line.points().size() < places(panel))
                            .map(Line::series))
                .distinct()
                .collect(Collectors.joining(", "));
    return shorter.isEmpty() ? "" : "; where " + shorter + " end, the config leaves points out";
  }

  private static long places(Panel panel) {
    return panel.lines().stream()
        .flatMap(line -> line.points().stream())
        .map(Point::x)
        .distinct()
        .count();
  }

  /** Returns true if no published row tests a point's model. */
  boolean untested(SummaryRow row) {
    return credits.untested().contains(Credits.key(row.pointId(), spec.y()));
  }

  /** Finished points in the order of some axes, the last of them fastest, whatever is missing. */
  List<SummaryRow> ordered(List<Axis> by) {
    List<SummaryRow> rows = new ArrayList<>(run.rows());
    for (Axis axis : by.reversed()) {
      rows.sort(Comparator.comparingInt(row -> place(axis, row)));
    }
    return rows;
  }

  private static int place(Axis axis, SummaryRow row) {
    return axis.values().indexOf(row.axes().get(axis.name()));
  }

  private Panel panel(
      FigureValues values,
      UnitConversion across,
      String base,
      SequencedMap<String, String> place,
      List<SummaryRow> rows,
      List<String> series) {
    List<Line> lines = new ArrayList<>();
    List<Ceiling> ceilings = new ArrayList<>();
    Function<SummaryRow, Optional<Reading>> readings =
        values.of(rows, base, row -> named(row, spec.series()), row -> number(row, spec.x()));
    for (String name : series) {
      List<Point> points = new ArrayList<>();
      List<double[]> bound = new ArrayList<>();
      List<double[]> published = new ArrayList<>();
      boolean untested = true;
      for (SummaryRow row : rows) {
        boolean here = spec.series().isEmpty() || named(row, spec.series()).equals(name);
        if (!here) {
          continue;
        }
        double at = number(row, spec.x()) * across.factor();
        Optional<Reading> shown = readings.apply(row);
        shown.ifPresent(
            r -> points.add(new Point(at, r.value(), r.whisker().lower(), r.whisker().upper())));
        untested &= untested(row);
        if (base.isEmpty() && values.plainMedians()) {
          credits.rows().stream()
              .filter(each -> each.point().equals(row.pointId()) && each.metric().equals(spec.y()))
              .forEach(
                  each ->
                      published.add(
                          new double[] {at, each.value() * values.conversion().factor()}));
        }
        MetricRow metric = row.metrics().get(spec.y());
        if (shown.isPresent() && metric != null && base.isEmpty() && spec.per().isEmpty()) {
          double factor = values.conversion().factor();
          metric
              .model()
              .filter(Prediction.Term::ceiling)
              .ifPresent(term -> bound.add(new double[] {at, term.value() * factor}));
        }
      }
      if (!points.isEmpty()) {
        points.sort(Comparator.comparingDouble(Point::x));
        lines.add(new Line(name, points, untested, published));
      }
      if (!bound.isEmpty()) {
        bound.sort(Comparator.comparingDouble(point -> point[0]));
        join(ceilings, name, bound);
      }
    }
    List<Mark> marks = values.plainMedians() ? marks(place, across) : List.of();
    return new Panel(panelTitle(place, rows), lines, ceilings, marks);
  }

  /** The facet's value, unless only others vary, then the other varying axes by name. */
  private String panelTitle(SequencedMap<String, String> place, List<SummaryRow> rows) {
    List<String> parts = new ArrayList<>();
    SummaryRow any = rows.getFirst();
    if (!spec.facet().isEmpty() && (place.isEmpty() || place.containsKey(spec.facet()))) {
      parts.add(facet(any, spec.facet()));
    }
    place.forEach(
        (name, value) -> {
          if (!name.equals(spec.facet())) {
            parts.add(Names.title(name) + " " + shown(any, name));
          }
        });
    return String.join(", ", parts);
  }

  private List<Mark> marks(SequencedMap<String, String> place, UnitConversion across) {
    List<Mark> marks = new ArrayList<>();
    for (Crossings.Found found : crossings) {
      boolean here =
          found.contrast().metric().equals(spec.y())
              && found.contrast().over().equals(spec.x())
              && found.contrast().axis().equals(spec.series())
              && place(found).equals(place);
      if (here) {
        found
            .crossover()
            .crossings()
            .forEach(
                crossing ->
                    marks.add(
                        new Mark(
                            named(spec.series(), found.contrast().first()),
                            named(spec.series(), found.contrast().second()),
                            crossing.size() * across.factor(),
                            scaled(
                                crossing
                                    .interval()
                                    .orElseGet(
                                        () -> new Interval(crossing.size(), crossing.size())),
                                across.factor()))));
      }
    }
    return marks;
  }

  private static Interval scaled(Interval interval, double factor) {
    return new Interval(interval.lower() * factor, interval.upper() * factor);
  }

  private static Map<String, String> place(Crossings.Found found) {
    Map<String, String> place = new LinkedHashMap<>();
    found.others().forEach((name, value) -> place.put(name, value.text()));
    if (!found.by().isEmpty()) {
      place.put(found.contrast().by(), found.by());
    }
    return place;
  }

  /** Ceilings that coincide wherever both are known are one line. */
  private static void join(List<Ceiling> ceilings, String name, List<double[]> bound) {
    for (int i = 0; i < ceilings.size(); i++) {
      Ceiling other = ceilings.get(i);
      if (coincide(other.points(), bound)) {
        List<String> names = new ArrayList<>(other.series());
        names.add(name);
        List<double[]> longer = bound.size() > other.points().size() ? bound : other.points();
        ceilings.set(i, new Ceiling(names, longer));
        return;
      }
    }
    ceilings.add(new Ceiling(List.of(name), bound));
  }

  private static boolean coincide(List<double[]> one, List<double[]> other) {
    boolean met = false;
    for (double[] a : one) {
      for (double[] b : other) {
        if (a[0] == b[0]) {
          if (Math.abs(a[1] - b[1]) > 1e-6 * Math.abs(a[1])) {
            return false;
          }
          met = true;
        }
      }
    }
    return met;
  }

  /**
   * A logarithmic axis cannot show zero; where there is one, the figure has a linear axis instead.
   */
  private static boolean positive(List<Panel> panels, ToDoubleFunction<Point> coordinate) {
    return panels.stream()
        .flatMap(panel -> panel.lines().stream())
        .flatMap(line -> line.points().stream())
        .allMatch(point -> coordinate.applyAsDouble(point) > 0);
  }

  FigureNotes notes(String samples, String contents, SeriesWords words) throws Unplottable {
    String caption = spec.style().caption();
    return new FigureNotes(
        spec.name(),
        Names.basis(run.basis()),
        samples,
        new Provenance(
            caption.isEmpty() ? run.experiment() + ": " + contents : caption,
            run.runId(),
            run.configHash(),
            run.gitId(),
            run.basis().word()),
        words.style());
  }

  Axis axis(String name) {
    return run.axes().stream()
        .filter(axis -> axis.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no axis '%s' in run %s; it has %s"
                        .formatted(
                            name, run.runId(), run.axes().stream().map(Axis::name).toList())));
  }

  String shown(SummaryRow row, String axis) {
    Value value = row.axes().get(axis);
    return value == null ? "" : Names.value(axis(axis), value);
  }

  String named(SummaryRow row, String axis) {
    Value value = row.axes().get(axis);
    return value == null ? "" : Names.alone(axis(axis), value);
  }

  String facet(SummaryRow row, String axis) {
    Value value = row.axes().get(axis);
    return value == null ? "" : SeriesWords.facet(run.axes(), axis(axis), value);
  }

  private String named(String axis, String text) {
    return axis(axis).values().stream()
        .filter(value -> value.text().equals(text))
        .map(value -> Names.alone(axis(axis), value))
        .findFirst()
        .orElse(text);
  }

  static List<String> texts(Axis axis) {
    return axis.values().stream().map(Value::text).toList();
  }

  static String text(SummaryRow row, String axis) {
    Value value = row.axes().get(axis);
    return value == null ? "" : value.text();
  }

  static double number(SummaryRow row, String axis) {
    return switch (row.axes().get(axis)) {
      case Value.Whole(long value) -> value;
      case Value.Real(double value) -> value;
      case null, default ->
          throw new IllegalArgumentException(
              "axis '%s' of point %s does not hold numbers and cannot be an abscissa"
                  .formatted(axis, row.pointId()));
    };
  }
}
