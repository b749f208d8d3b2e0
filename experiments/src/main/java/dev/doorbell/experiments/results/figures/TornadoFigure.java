package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import java.util.Comparator;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * What each constant of the model does to a prediction: those that matter most on top.
 *
 * @param metric that is predicted, in words
 * @param base the prediction with all constants as they are
 * @param unit of it
 * @param influences that move the prediction at all, the strongest first
 * @param beyond how many more move it by less than those shown
 */
record TornadoFigure(
    String name,
    String metric,
    double base,
    String unit,
    List<Influence> influences,
    int beyond,
    String basisNote,
    Provenance provenance)
    implements Chart {

  private static final int MOST = 12;

  /** What moves the prediction by less would not show. */
  private static final double LEAST = 0.001;

  TornadoFigure {
    influences = List.copyOf(influences);
  }

  static TornadoFigure of(
      String name,
      String metric,
      double base,
      String unit,
      List<Influence> all,
      String basisNote,
      Provenance provenance) {
    List<Influence> moving =
        all.stream()
            .filter(influence -> reach(influence, base) > LEAST * Math.abs(base))
            .sorted(Comparator.comparingDouble(influence -> -reach(influence, base)))
            .toList();
    List<Influence> shown = moving.subList(0, Math.min(MOST, moving.size()));
    long any = all.stream().filter(influence -> reach(influence, base) > 0).count();
    return new TornadoFigure(
        name, metric, base, unit, shown, (int) any - shown.size(), basisNote, provenance);
  }

  private static double reach(Influence influence, double base) {
    return Math.max(Math.abs(influence.atLow() - base), Math.abs(influence.atHigh() - base));
  }

  /** What is predicted, how far constants were moved, and what is left out. */
  String samplesNote() {
    String why =
        influences.stream().map(Influence::range).distinct().collect(Collectors.joining(", "));
    String note = "%s of %s; %s".formatted(metric, Units.quantity(base, unit), why);
    return beyond == 0 ? note : note + "; %d weaker left out".formatted(beyond);
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
  public String caption() {
    return "what each constant of the model does to the predicted %s of %s"
        .formatted(metric, provenance.title());
  }

  @Override
  public List<?> panels() {
    return List.of(influences);
  }

  @Override
  public Drawing draw(double width) {
    return TornadoChart.draw(this, width);
  }

  @Override
  public List<TornadoFigure> panelByPanel() {
    return List.of(this);
  }

  @Override
  public SequencedMap<String, String> pgfplots() {
    return TornadoPgf.of(this);
  }
}
