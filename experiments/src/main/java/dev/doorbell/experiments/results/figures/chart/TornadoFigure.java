package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.print.Units;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The effect of each constant of the model on a prediction, the strongest on top.
 *
 * @param metric that is predicted, in words
 * @param base the prediction with all constants as they are
 * @param unit of it
 * @param influences that move the prediction notably, the strongest first
 */
public record TornadoFigure(
    FigureNotes notes, String metric, double base, String unit, List<Influence> influences)
    implements Figure {

  private static final int MOST = 12;

  /** What moves the prediction by less would not show. */
  private static final double LEAST = 0.001;

  public TornadoFigure {
    influences = List.copyOf(influences);
  }

  /**
   * Chooses the constants that matter.
   *
   * @param notes whose note on samples is replaced
   */
  public static TornadoFigure of(
      FigureNotes notes, String metric, double base, String unit, List<Influence> all) {
    List<Influence> moving =
        all.stream()
            .filter(influence -> reach(influence, base) > LEAST * Math.abs(base))
            .sorted(Comparator.comparingDouble(influence -> -reach(influence, base)))
            .toList();
    List<Influence> shown = moving.subList(0, Math.min(MOST, moving.size()));
    long any = all.stream().filter(influence -> reach(influence, base) > 0).count();
    String ranges =
        shown.stream().map(Influence::range).distinct().collect(Collectors.joining(", "));
    String samples =
        "%s of %s; %s".formatted(metric, Units.quantity(base, unit), ranges)
            + (any == shown.size() ? "" : "; %d weaker left out".formatted(any - shown.size()));
    return new TornadoFigure(notes.sampled(samples), metric, base, unit, shown);
  }

  private static double reach(Influence influence, double base) {
    return Math.max(Math.abs(influence.atLow() - base), Math.abs(influence.atHigh() - base));
  }

  /** How far the prediction moves, percent. */
  double change(double value) {
    return 100 * (value / base - 1);
  }

  /** A constant without the name of its topology, which the title has. */
  static String constant(Influence influence) {
    String name = influence.constant().name();
    return name.substring(name.indexOf('.') + 1);
  }

  /** Its value with the unit as print has it, not as a topology file spells it. */
  static String value(Influence influence) {
    String unit =
        switch (influence.constant().unit()) {
          case "bytes" -> "B";
          case "gb_s" -> "GB/s";
          default -> influence.constant().unit();
        };
    return Units.quantity(influence.constant().value(), unit);
  }

  @Override
  public String contents() {
    return "what each constant of the model does to the predicted %s of %s"
        .formatted(metric, notes.provenance().title());
  }

  @Override
  public Drawing draw(double width) {
    return new TornadoChart(this).drawing(width);
  }
}
