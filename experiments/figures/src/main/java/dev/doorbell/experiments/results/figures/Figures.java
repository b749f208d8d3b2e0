package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.results.figures.chart.Figure;
import dev.doorbell.experiments.results.figures.chart.LineFigure;
import dev.doorbell.experiments.results.figures.chart.TimelineFigure;
import dev.doorbell.experiments.results.figures.chart.TornadoFigure;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.tables.RunSelection;
import dev.doorbell.experiments.run.RunData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All figures of a run, of every kind: from its samples, from the closed forms of its points, or
 * from one message of a point that is run again in virtual time.
 *
 * <p>A figure with several panels is two columns of a paper wide, and comes once more for each
 * panel, one column wide. The bytes depend on the run alone: rebuilt figures compare equal.
 */
public final class Figures {
  private final RunData run;
  private final List<Point> points;
  private final Supplier<ExperimentRuntime> runtime;
  private final Credits credits;

  /** Figures of a run of which no published row is known. */
  public Figures(RunData run, List<Point> points, Supplier<ExperimentRuntime> runtime) {
    this(run, points, runtime, Credits.NONE);
  }

  /**
   * @param run whose samples are shown
   * @param points of its plan
   * @param runtime asked only for what samples do not say
   * @param credits published rows that test its points
   */
  public Figures(
      RunData run, List<Point> points, Supplier<ExperimentRuntime> runtime, Credits credits) {
    this.run = run;
    this.points = List.copyOf(points);
    this.runtime = runtime;
    this.credits = credits;
  }

  /**
   * The figures that a config asks for.
   *
   * @param plots those that the run can give
   * @param missing why it cannot give the others
   */
  public record Asked(Plots plots, List<Problem> missing) {}

  /** The figures that the config asks for; none, and none missing, where no point has a result. */
  public Asked asked(List<PointCondition> further) {
    return asked(further, FigureStyle.DEFAULT);
  }

  /** The figures that the config asks for, in a style that goes before each figure's own. */
  public Asked asked(List<PointCondition> further, FigureStyle style) {
    List<Figure> figures = new ArrayList<>();
    List<Problem> missing = new ArrayList<>();
    if (!run.rows().isEmpty()) {
      for (FigureSpec spec : run.figures()) {
        try {
          FigureSpec whole = spec.within(further).styled(style);
          Figure figure = figure(whole, true);
          figures.add(figure);
          if (figure instanceof LineFigure lines && spec.relative().isEmpty() && lines.isClose()) {
            figures.add(figure(whole.ratio(lines.series().getFirst()), true));
          }
        } catch (Unplottable e) {
          missing.add(
              Problem.of(
                      e.problem().code(),
                      run.runId(),
                      "figure '%s' is not drawn: %s".formatted(spec.name(), e.problem().what()))
                  .fix(String.valueOf(e.problem().fix())));
        }
      }
    }
    return new Asked(new Plots(figures), missing);
  }

  /**
   * One figure; what it leaves open is the config's.
   *
   * @throws Unplottable when the run cannot give it
   */
  public Plots one(FigureSpec spec) throws Unplottable {
    if (run.rows().isEmpty()) {
      throw Unplottable.because(
          run.runId(),
          "no point has a result",
          "doorbell table RUN says why; doorbell run --resume RUN runs what is missing");
    }
    return new Plots(
        List.of(figure(sampled(spec) ? FigureDefaults.fill(run, spec) : spec, spec.x().isEmpty())));
  }

  private static boolean sampled(FigureSpec spec) {
    return spec.kind() != FigureKind.TORNADO && spec.kind() != FigureKind.TIMELINE;
  }

  /**
   * @param open whether the abscissa was left to the experiment
   */
  private Figure figure(FigureSpec spec, boolean open) throws Unplottable {
    return switch (spec.kind()) {
      case LINE -> charts(spec, open).line();
      case CDF -> charts(spec, false).cdf();
      case BAR -> charts(spec, false).bars();
      case HEATMAP -> charts(spec, false).heat();
      case TORNADO -> tornado(spec);
      case TIMELINE -> {
        Point point = point(spec.only());
        yield timeline(spec, point, trace(point, null));
      }
    };
  }

  private RunCharts charts(FigureSpec spec, boolean open) throws Unplottable {
    RunData part = RunSelection.of(run, points, spec.only());
    if (part.rows().isEmpty()) {
      throw Unplottable.because(
          run.runId(),
          "no point with a result fulfils '%s'".formatted(PointCondition.text(spec.only())),
          values());
    }
    return new RunCharts(
        part, open ? FigureDefaults.overWhatVaries(part, spec) : spec, points, credits);
  }

  /**
   * One point is shown: the first for which all conditions hold.
   *
   * @throws Unplottable when there is none
   */
  public Point point(List<PointCondition> conditions) throws Unplottable {
    return points.stream()
        .filter(point -> conditions.stream().allMatch(c -> c.holds(point.settings())))
        .findFirst()
        .orElseThrow(
            () ->
                Unplottable.because(
                    run.runId(),
                    "no point fulfils '%s'".formatted(PointCondition.text(conditions)),
                    values()));
  }

  private String values() {
    return run.axes().stream()
        .map(
            axis ->
                axis.name()
                    + "="
                    + axis.values().stream().map(Value::text).collect(Collectors.joining("|")))
        .collect(Collectors.joining("; ", "it has ", ""));
  }

  private Figure tornado(FigureSpec spec) throws Unplottable {
    Point point = point(spec.only());
    String metric = spec.y().isEmpty() ? "latency" : spec.y();
    Prediction prediction = runtime.get().predict(point);
    Optional<Prediction.Term> base = prediction.of(metric);
    if (base.isEmpty()) {
      List<String> known = prediction.terms().stream().map(Prediction.Term::metric).toList();
      throw Unplottable.because(
          run.runId(),
          "a tornado moves a prediction, and the model has none of '%s' for %s"
              .formatted(metric, point.id()),
          known.isEmpty()
              ? "take a point with a closed form (put_latency, put_bandwidth, push_ring,"
                  + " collectives); doorbell predict lists them, and --kind timeline shows one"
                  + " message of others"
              : "it predicts %s there".formatted(String.join(", ", known)));
    }
    List<Influence> influences = runtime.get().sensitivity(point, metric, spec.share());
    if (influences.isEmpty()) {
      throw Unplottable.because(
          run.runId(),
          "no constant of the topology of %s can be moved".formatted(point.id()),
          "the topology needs constants with a unit; docs/topologies.md says which it may have");
    }
    String title = Names.title(metric);
    FigureNotes notes =
        new FigureNotes(
            spec.name().isEmpty() ? "tornado-%s-%s".formatted(metric, point.id()) : spec.name(),
            "modelled (closed form, nothing was run)",
            "",
            provenance(point.id()),
            spec.style());
    return TornadoFigure.of(notes, title, base.get().value(), base.get().unit(), influences);
  }

  /**
   * Traces one message of a point.
   *
   * @param capture where its packets go; null for nowhere
   * @throws Unplottable when it cannot be run here
   */
  public Timeline trace(Point point, @Nullable Path capture) throws Unplottable {
    try {
      return runtime.get().timeline(point, capture);
    } catch (PointFailure e) {
      throw new Unplottable(e.problem());
    }
  }

  /** The figure of a message that has been traced. */
  public Plots timelineOf(FigureSpec spec, Point point, Timeline timeline) {
    return new Plots(List.of(timeline(spec, point, timeline)));
  }

  private Figure timeline(FigureSpec spec, Point point, Timeline timeline) {
    return new TimelineFigure(
        new FigureNotes(
            spec.name().isEmpty() ? "timeline-" + point.id() : spec.name(),
            Names.basis(Basis.MODELLED),
            "one message, every event",
            provenance(timeline.title()),
            spec.style()),
        timeline);
  }

  private Provenance provenance(String title) {
    return new Provenance(title, run.runId(), run.configHash(), run.gitId(), Basis.MODELLED.word());
  }
}
