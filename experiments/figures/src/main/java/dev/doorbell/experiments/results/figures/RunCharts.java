package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.figures.FigureValues.Reading;
import dev.doorbell.experiments.results.figures.chart.BarFigure;
import dev.doorbell.experiments.results.figures.chart.BarFigure.Bar;
import dev.doorbell.experiments.results.figures.chart.HeatFigure;
import dev.doorbell.experiments.results.figures.chart.HeatFigure.Cell;
import dev.doorbell.experiments.results.figures.chart.LineFigure;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Line;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Panel;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Point;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Quantified;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Interval;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Builds figures from a run's samples. */
final class RunCharts {

  /** More panels than this are no figure. */
  private static final int MOST_PANELS = 12;

  /** Steps that are drawn of a distribution; more would not be visible. */
  private static final int MOST_STEPS = 400;

  /** A lead up to here is none, as a change is up to the default threshold of compare. */
  private static final double LEAD = 0.01;

  private final RunData run;
  private final RunLines figures;
  private final FigureSpec spec;
  private final SeriesWords words;

  RunCharts(
      RunData run, FigureSpec spec, List<dev.doorbell.experiments.plan.Point> plan, Credits credits)
      throws Unplottable {
    this.run = run;
    this.figures = new RunLines(run, spec, plan, credits);
    this.spec = spec;
    List<String> names = run.axes().stream().map(Axis::name).toList();
    for (String axis : List.of(spec.x(), spec.series(), spec.facet(), spec.rows())) {
      if (!axis.isEmpty() && !names.contains(axis)) {
        throw Unplottable.axis(run, axis, names);
      }
    }
    boolean sampled = spec.kind() == FigureKind.CDF || spec.kind() == FigureKind.HEATMAP;
    if (sampled && run.rows().stream().noneMatch(row -> has(row, spec.y()))) {
      throw Unplottable.metric(run, spec.y());
    }
    if (!spec.relative().isEmpty() && spec.series().isEmpty()) {
      throw Unplottable.because(
          run.runId(),
          "relative names '%s', and the figure has no series".formatted(spec.relative()),
          "say which axis gives a series each: --series AXIS");
    }
    this.words = new SeriesWords(run, spec);
  }

  private static boolean has(SummaryRow row, String metric) {
    MetricRow found = row.metrics().get(metric);
    return found != null && found.samples().size() > 0;
  }

  LineFigure line() throws Unplottable {
    if (spec.x().isEmpty() || !FigureReader.numeric(figures.axis(spec.x()))) {
      throw Unplottable.because(
          run.runId(),
          spec.x().isEmpty()
              ? "no axis of numbers for the abscissa"
              : "axis '%s' holds words, and a line needs numbers".formatted(spec.x()),
          "choose the abscissa with -x AXIS, or draw --kind bar");
    }
    return figures.figure(words).orElseThrow(() -> Unplottable.metric(run, spec.y()));
  }

  /** Shares of samples: a panel for each place, a line for each value of the series' axis. */
  LineFigure cdf() throws Unplottable {
    List<Panel> panels = new ArrayList<>();
    IntSummaryStatistics counts = new IntSummaryStatistics();
    boolean positive = true;
    UnitConversion across = UnitConversion.of(run.runId(), "xunit", unit(), spec.style().xUnit());
    for (var place : places(Set.of(spec.series())).entrySet()) {
      List<Line> lines = new ArrayList<>();
      for (SummaryRow row : place.getValue()) {
        double[] sorted = sampled(row).samples().values();
        Arrays.sort(sorted);
        Arrays.setAll(sorted, i -> sorted[i] * across.factor());
        positive &= sorted[0] > 0;
        counts.accept(sorted.length);
        lines.add(new Line(seriesOf(row), steps(sorted), figures.untested(row), List.of()));
      }
      panels.add(new Panel(place.getKey(), lines, List.of(), List.of()));
    }
    String n =
        counts.getMin() == counts.getMax()
            ? "" + counts.getMin()
            : counts.getMin() + " to " + counts.getMax();
    return new LineFigure(
        notes("n = " + n + " a line, marker at the median", "distribution of "),
        across.quantified(axisTitle(spec.y()), positive),
        new Quantified("share of samples", "", false),
        words.series(panels.stream().flatMap(p -> p.lines().stream()).map(Line::series).toList()),
        panels,
        true,
        UnitConversion.limits(run.runId(), spec, across, new UnitConversion("", "", 1)));
  }

  private static List<Point> steps(double[] sorted) {
    List<Point> points = new ArrayList<>();
    int n = sorted.length;
    int drawn = Math.min(n, MOST_STEPS);
    for (int k = 1; k <= drawn; k++) {
      int at = (int) ((long) k * n / drawn);
      double share = (double) at / n;
      boolean same = !points.isEmpty() && points.getLast().x() == sorted[at - 1];
      if (same) {
        points.removeLast();
      }
      points.add(new Point(sorted[at - 1], share, share, share));
    }
    return points;
  }

  /** Bars: groups along one axis, a bar for each value of the series' axis. */
  BarFigure bars() throws Unplottable {
    String groups = groups();
    FigureValues values = new FigureValues(run, spec);
    String base = words.relative();
    List<BarFigure.Panel> panels = new ArrayList<>();
    SequencedSet<String> present = new LinkedHashSet<>();
    for (var place : places(Set.copyOf(List.of(spec.series(), groups))).entrySet()) {
      List<Bar> bars = new ArrayList<>();
      Function<SummaryRow, Optional<Reading>> readings =
          values.of(place.getValue(), base, this::seriesOf, row -> group(row, groups));
      for (SummaryRow row : place.getValue()) {
        String group = group(row, groups);
        readings
            .apply(row)
            .ifPresent(
                r -> {
                  present.add(group);
                  Interval whisker = r.whisker();
                  bars.add(
                      new Bar(
                          group,
                          seriesOf(row),
                          r.value(),
                          whisker.lower(),
                          whisker.upper(),
                          figures.untested(row)));
                });
      }
      panels.add(new BarFigure.Panel(place.getKey(), bars));
    }
    boolean log =
        Boolean.TRUE.equals(spec.logY())
            && panels.stream().flatMap(panel -> panel.bars().stream()).allMatch(b -> b.lower() > 0);
    List<String> ordered =
        groups.isEmpty()
            ? List.copyOf(present)
            : figures.axis(groups).values().stream()
                .map(value -> shown(value, groups))
                .filter(present::contains)
                .toList();
    return new BarFigure(
        notes(values.note(), ""),
        groups.isEmpty() ? "" : axisTitle(groups),
        values.conversion().quantified(values.title(words.style().shown(Role.SERIES, base)), log),
        ordered,
        words.series(panels.stream().flatMap(p -> p.bars().stream()).map(Bar::series).toList()),
        panels,
        UnitConversion.limits(
            run.runId(), spec, new UnitConversion("", "", 1), values.conversion()));
  }

  private String group(SummaryRow row, String groups) {
    return groups.isEmpty() ? "" : shown(row, groups);
  }

  private String axisTitle(String name) {
    return spec.style().named(name).orElse(Names.title(name));
  }

  /** Axis of the groups; an empty text where it does not vary. */
  private String groups() {
    return !spec.x().isEmpty() && figures.axis(spec.x()).values().size() > 1 ? spec.x() : "";
  }

  /** The winner at each place of two axes. */
  HeatFigure heat() throws Unplottable {
    if (spec.series().isEmpty() || spec.x().isEmpty() || spec.rows().isEmpty()) {
      throw Unplottable.because(
          run.runId(),
          "a heat map needs two axes and one whose values compete",
          "say which: -x AXIS --rows AXIS --series AXIS");
    }
    boolean most = run.higherIsBetter(spec.y(), unit());
    List<String> across = shownValues(spec.x());
    List<String> down = shownValues(spec.rows());
    List<HeatFigure.Panel> panels = new ArrayList<>();
    SequencedSet<String> winners = new LinkedHashSet<>();
    boolean contested = false;
    boolean close = false;
    for (var place : places(Set.copyOf(List.of(spec.series(), spec.x(), spec.rows()))).entrySet()) {
      List<Cell> cells = new ArrayList<>();
      for (int x = 0; x < across.size(); x++) {
        for (int y = 0; y < down.size(); y++) {
          String column = across.get(x);
          String line = down.get(y);
          List<SummaryRow> rivals =
              place.getValue().stream()
                  .filter(row -> shown(row, spec.x()).equals(column))
                  .filter(row -> shown(row, spec.rows()).equals(line))
                  .toList();
          if (!rivals.isEmpty()) {
            Ranked ranked = ranked(rivals, most);
            contested |= rivals.size() > 1;
            close |= ranked.distinct() && !ranked.leads();
            Cell cell = new Cell(x, y, ranked.winner(), ranked.ratio(), ranked.leads());
            cells.add(cell);
            if (cell.apart()) {
              winners.add(cell.winner());
            }
          }
        }
      }
      panels.add(new HeatFigure.Panel(place.getKey(), cells));
    }
    if (!contested) {
      throw Unplottable.because(
          run.runId(),
          "nobody competes: at no place has more than one '%s' a result".formatted(spec.series()),
          "choose the axis whose values compete with --series AXIS (series in a config)");
    }
    String samples =
        ("%s median of %s; the stronger the colour, the farther ahead; numbers: runner-up / winner;"
                + " white: 95 %% intervals overlap%s")
            .formatted(
                most ? "highest" : "lowest",
                Names.title(spec.y()),
                close ? " or the lead is at most %.0f %%".formatted(100 * LEAD) : "");
    return new HeatFigure(
        notes(samples, "winner by "),
        axisTitle(spec.x()),
        axisTitle(spec.rows()),
        across,
        down,
        words.series(List.copyOf(winners)),
        panels);
  }

  /**
   * The best of several points.
   *
   * @param ratio by which it is better than the second; NaN without a rival
   * @param distinct whether the intervals of the two do not overlap
   */
  private record Ranked(String winner, double ratio, boolean distinct) {
    boolean leads() {
      return distinct && (Double.isNaN(ratio) || ratio > 1 + LEAD);
    }
  }

  private Ranked ranked(List<SummaryRow> rivals, boolean most) {
    record Rival(String name, Summary summary) {}
    Comparator<Rival> order = Comparator.comparingDouble(rival -> rival.summary().median());
    List<Rival> ranked =
        rivals.stream()
            .map(row -> new Rival(seriesOf(row), SummaryFiles.summary(row, sampled(row))))
            .sorted(most ? order.reversed() : order)
            .toList();
    Rival first = ranked.getFirst();
    if (ranked.size() == 1) {
      return new Ranked(first.name(), Double.NaN, true);
    }
    Rival second = ranked.get(1);
    double ratio =
        most
            ? first.summary().median() / second.summary().median()
            : second.summary().median() / first.summary().median();
    Interval winner = first.summary().whisker();
    Interval other = second.summary().whisker();
    boolean apart = most ? winner.lower() > other.upper() : winner.upper() < other.lower();
    return new Ranked(first.name(), ratio, apart);
  }

  /**
   * Finished points that have the metric, by the values of all varying axes but these. The facet's
   * value comes first in a title.
   */
  private SequencedMap<String, List<SummaryRow>> places(Set<String> spoken) throws Unplottable {
    List<Axis> others =
        run.axes().stream()
            .filter(axis -> axis.values().size() > 1 && !spoken.contains(axis.name()))
            .sorted(Comparator.comparing(axis -> !axis.name().equals(spec.facet())))
            .toList();
    SequencedMap<String, List<SummaryRow>> places = new LinkedHashMap<>();
    for (SummaryRow row : figures.ordered(others)) {
      if (has(row, spec.y()) || row.counters().containsKey(spec.y())) {
        String place =
            others.stream()
                .map(
                    axis ->
                        axis.name().equals(spec.facet())
                            ? figures.facet(row, axis.name())
                            : Names.title(axis.name()) + " " + shown(row, axis.name()))
                .collect(Collectors.joining(", "));
        places.computeIfAbsent(place, _ -> new ArrayList<>()).add(row);
      }
    }
    if (places.size() > MOST_PANELS) {
      throw Unplottable.because(
          run.runId(),
          "%d panels are no figure: one for each %s"
              .formatted(
                  places.size(),
                  others.stream().map(Axis::name).collect(Collectors.joining(" and "))),
          "show a part of the run, such as --only %s"
              .formatted(
                  others.stream()
                      .map(axis -> axis.name() + "=" + axis.values().getFirst().text())
                      .collect(Collectors.joining(","))));
    }
    return places;
  }

  private MetricRow sampled(SummaryRow row) {
    MetricRow metric = row.metrics().get(spec.y());
    if (metric == null) {
      throw new IllegalStateException(row.pointId() + " was chosen for a metric that it lacks");
    }
    return metric;
  }

  private String unit() {
    return run.rows().stream()
        .filter(row -> has(row, spec.y()))
        .map(row -> sampled(row).samples().unit())
        .findFirst()
        .orElse("");
  }

  private String seriesOf(SummaryRow row) {
    return spec.series().isEmpty() ? spec.y() : figures.named(row, spec.series());
  }

  private List<String> shownValues(String axis) {
    return figures.axis(axis).values().stream().map(value -> shown(value, axis)).toList();
  }

  private String shown(SummaryRow row, String axis) {
    return figures.shown(row, axis);
  }

  private String shown(Value value, String axis) {
    return Names.value(figures.axis(axis), value);
  }

  private FigureNotes notes(String samples, String what) throws Unplottable {
    return figures.notes(samples, what + Names.title(spec.y()), words);
  }
}
