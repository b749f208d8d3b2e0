package dev.doorbell.experiments.figures;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.Axis;
import dev.doorbell.experiments.config.Contrast;
import dev.doorbell.experiments.config.FigureSpec;
import dev.doorbell.experiments.config.Value;
import dev.doorbell.experiments.figures.LineFigure.Ceiling;
import dev.doorbell.experiments.figures.LineFigure.Line;
import dev.doorbell.experiments.figures.LineFigure.Mark;
import dev.doorbell.experiments.figures.LineFigure.Panel;
import dev.doorbell.experiments.figures.LineFigure.Point;
import dev.doorbell.experiments.figures.LineFigure.Quantified;
import dev.doorbell.experiments.figures.drawing.Provenance;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Reads off a run what a figure that its config asks for shows. */
final class RunFigures {

  private final RunData run;

  RunFigures(RunData run) {
    this.run = run;
  }

  /**
   * The figure of a specification; empty where no finished point has its metric, as in a run that
   * was interrupted early.
   *
   * @throws IllegalArgumentException where an axis of the specification is none of the run's, or
   *     its abscissa does not hold numbers
   */
  Optional<LineFigure> figure(FigureSpec spec) {
    Axis x = axis(spec.x());
    List<String> facets = spec.facet().isEmpty() ? List.of("") : texts(axis(spec.facet()));
    List<String> series = spec.series().isEmpty() ? List.of(spec.y()) : texts(axis(spec.series()));
    List<Panel> panels = new ArrayList<>();
    IntSummaryStatistics counts = new IntSummaryStatistics();
    String unit = "";
    for (String facet : facets) {
      List<Line> lines = new ArrayList<>();
      List<Ceiling> ceilings = new ArrayList<>();
      for (String name : series) {
        List<Point> points = new ArrayList<>();
        List<double[]> bound = new ArrayList<>();
        for (SummaryRow row : rows(spec, facet, name)) {
          MetricRow metric = row.metrics().get(spec.y());
          if (metric == null || metric.samples().size() == 0) {
            continue;
          }
          unit = metric.samples().unit();
          double at = number(row, spec.x());
          Summary summary = Summary.of(metric.samples().values(), row.seed());
          counts.accept(summary.n());
          points.add(new Point(at, summary.median(), summary.lower(), summary.upper()));
          metric
              .model()
              .filter(Prediction.Term::ceiling)
              .ifPresent(term -> bound.add(new double[] {at, term.value()}));
        }
        if (!points.isEmpty()) {
          points.sort(Comparator.comparingDouble(Point::x));
          lines.add(new Line(name, points));
        }
        if (!bound.isEmpty()) {
          bound.sort(Comparator.comparingDouble(point -> point[0]));
          join(ceilings, name, bound);
        }
      }
      if (!lines.isEmpty()) {
        panels.add(new Panel(facet, lines, ceilings, marks(spec, facet, lines)));
      }
    }
    if (panels.isEmpty()) {
      return Optional.empty();
    }
    List<String> drawn =
        series.stream()
            .filter(
                name ->
                    panels.stream()
                        .flatMap(panel -> panel.lines().stream())
                        .anyMatch(line -> line.series().equals(name)))
            .toList();
    return Optional.of(
        new LineFigure(
            spec.name(),
            new Quantified(title(spec.x()), x.unit(), spec.logX() && positive(panels, Point::x)),
            new Quantified(
                title(spec.y()) + ", median", unit, spec.logY() && positive(panels, Point::lower)),
            drawn,
            panels,
            note(run.basis()),
            samplesNote(counts),
            provenance(spec)));
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

  private List<Mark> marks(FigureSpec spec, String facet, List<Line> lines) {
    List<String> present = lines.stream().map(Line::series).toList();
    List<Mark> marks = new ArrayList<>();
    for (Contrast contrast : run.contrasts()) {
      boolean here =
          contrast.metric().equals(spec.y())
              && contrast.over().equals(spec.x())
              && contrast.axis().equals(spec.series())
              && contrast.by().equals(spec.facet())
              && present.contains(contrast.first())
              && present.contains(contrast.second());
      if (here) {
        Crossovers.of(run, contrast, facet)
            .crossings()
            .forEach(
                crossing ->
                    marks.add(
                        new Mark(
                            contrast.first(),
                            contrast.second(),
                            crossing.size(),
                            crossing.interval())));
      }
    }
    return marks;
  }

  private List<SummaryRow> rows(FigureSpec spec, String facet, String series) {
    return run.rows().stream()
        .filter(row -> spec.facet().isEmpty() || Crossovers.has(row, spec.facet(), facet))
        .filter(row -> spec.series().isEmpty() || Crossovers.has(row, spec.series(), series))
        .toList();
  }

  private Provenance provenance(FigureSpec spec) {
    String over = title(spec.y()) + " against " + title(spec.x());
    return new Provenance(
        run.experiment() + ": " + over,
        run.runId(),
        run.configHash(),
        run.gitId(),
        run.basis().word());
  }

  private Axis axis(String name) {
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

  private static List<String> texts(Axis axis) {
    return axis.values().stream().map(Value::text).toList();
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

  /** What an axis or metric is called in print: {@code size} is a message's. */
  private static String title(String name) {
    return name.equals("size") ? "message size" : name.replace('_', ' ').replace('.', ' ');
  }

  private static String samplesNote(IntSummaryStatistics counts) {
    String n =
        counts.getMin() == counts.getMax()
            ? Integer.toString(counts.getMin())
            : counts.getMin() + " to " + counts.getMax();
    return "n = " + n + " a point, whiskers 95 % bootstrap intervals";
  }

  /** The basis word and what it means, for the strip under a figure and the line under a table. */
  static String note(Basis basis) {
    return switch (basis) {
      case MEASURED -> "measured (wall time on the hardware)";
      case EMULATED -> "emulated (wall time of the emulation)";
      case MODELLED -> "modelled (virtual time)";
    };
  }
}
