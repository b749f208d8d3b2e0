package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The effect of each constant of the model on a prediction, the strongest on top.
 *
 * @param base the prediction with all constants as they are
 * @param influences that move the prediction notably, the strongest first
 */
public record TornadoFigure(FigureNotes notes, double base, List<Influence> influences)
    implements Figure {

  private static final int MOST = 12;
  private static final double ROW = 12;
  private static final double BAR = 0.62;
  private static final Paint LOWER = new Paint(0x0072B2);
  private static final Paint HIGHER = new Paint(0xD55E00);

  /** Relative change that shows, at least. */
  private static final double LEAST = 0.001;

  /**
   * Chooses the constants that matter.
   *
   * @param notes whose note on samples is replaced
   * @param metric that is predicted, in words
   * @param base the prediction with all constants as they are, in {@code unit}
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
    return new TornadoFigure(notes.sampled(samples), base, shown);
  }

  private static double reach(Influence influence, double base) {
    return Math.max(Math.abs(influence.atLow() - base), Math.abs(influence.atHigh() - base));
  }

  /** Change of the prediction in percent. */
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
  public Drawing draw(double width) {
    List<String> rows =
        influences().stream().map(each -> constant(each) + "  " + value(each)).toList();
    PanelLayout layout =
        new PanelLayout(
            width,
            0,
            1,
            this::across,
            AxisBuilder.rows("", rows),
            _ -> ROW * Math.max(1, rows.size()));
    String title = notes().provenance().title();
    return layout.draw(
        notes(),
        List.of(new PanelLayout.Panel(title, 0, this::bars)),
        List.of(
            Legend.Item.box("constant lowered", 8, 5, LOWER),
            Legend.Item.box("constant raised", 8, 5, HIGHER)));
  }

  private PlotAxis across(double width) {
    double low = 0;
    double high = 0;
    for (Influence influence : influences()) {
      for (double value : new double[] {influence.atLow(), influence.atHigh()}) {
        low = Math.min(low, change(value));
        high = Math.max(high, change(value));
      }
    }
    if (low == high) {
      high = 1;
    }
    return AxisBuilder.linear("change of the prediction", "%", low, high, (int) (width / 24));
  }

  private void bars(PlotArea area, List<Node> out) {
    int rows = influences().size();
    double zero = area.x(0);
    List<Node> bars = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      Influence influence = influences().get(i);
      double top = area.y(rows - i - (1 - BAR) / 2);
      double bottom = area.y(rows - i - (1 + BAR) / 2);
      List<Node> drawn = new ArrayList<>();
      bar(zero, area.x(change(influence.atLow())), top, bottom, LOWER, drawn);
      bar(zero, area.x(change(influence.atHigh())), top, bottom, HIGHER, drawn);
      String id = "row-" + Identifier.of(constant(influence));
      bars.add(new Node.Group(id, drawn));
    }
    out.addAll(bars);
    out.add(Stroke.line(zero, area.top(), zero, area.bottom(), Theme.INK, 0.6));
  }

  private static void bar(
      double from, double to, double top, double bottom, Paint paint, List<Node> out) {
    if (Math.abs(to - from) > 0.05) {
      double left = Math.min(from, to);
      out.add(
          new Node.Fill(Outline.rectangle(left, top, Math.abs(to - from), bottom - top), paint));
    }
  }
}
