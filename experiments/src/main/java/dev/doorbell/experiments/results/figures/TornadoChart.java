package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.results.figures.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Ink;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import java.util.ArrayList;
import java.util.List;

/** Lays out a {@link TornadoFigure}. */
final class TornadoChart {

  private static final double ROW = 12;
  static final double BAR = 0.62;
  static final Ink LOWER = new Ink(0x0072B2);
  static final Ink HIGHER = new Ink(0xD55E00);

  private final TornadoFigure figure;

  private TornadoChart(TornadoFigure figure) {
    this.figure = figure;
  }

  /** How a figure is laid out, {@code width} points wide. */
  static Sheet sheet(TornadoFigure figure, double width) {
    TornadoChart chart = new TornadoChart(figure);
    int rows = figure.influences().size();
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      Influence influence = figure.influences().get(i);
      String value = TornadoFigure.value(influence);
      String label = TornadoFigure.constant(influence) + "  " + value;
      ticks.add(new Tick(rows - i - 0.5, label, false));
    }
    return new Sheet(
        width,
        1,
        chart::across,
        new PlotAxis("", new Scale.Linear(0, Math.max(1, rows)), ticks),
        _ -> ROW * Math.max(1, rows));
  }

  static Drawing draw(TornadoFigure figure, double width) {
    TornadoChart chart = new TornadoChart(figure);
    Sheet sheet = sheet(figure, width);
    return sheet.draw(
        List.of(new Sheet.Panel(figure.provenance().title(), 0, chart::bars)),
        new Sheet.Surroundings(
            figure.basisNote(), figure.samplesNote(), figure.provenance(), legend()));
  }

  private PlotAxis across(double width) {
    double low = 0;
    double high = 0;
    for (Influence influence : figure.influences()) {
      for (double value : new double[] {influence.atLow(), influence.atHigh()}) {
        low = Math.min(low, figure.change(value));
        high = Math.max(high, figure.change(value));
      }
    }
    if (low == high) {
      high = 1;
    }
    return Axes.linear("change of the prediction", "%", low, high, (int) (width / 24));
  }

  private void bars(Frame frame, List<Node> out) {
    int rows = figure.influences().size();
    double zero = frame.x(0);
    for (int i = 0; i < rows; i++) {
      Influence influence = figure.influences().get(i);
      double top = frame.y(rows - i - (1 - BAR) / 2);
      double bottom = frame.y(rows - i - (1 + BAR) / 2);
      List<Node> drawn = new ArrayList<>();
      bar(zero, frame.x(figure.change(influence.atLow())), top, bottom, LOWER, drawn);
      bar(zero, frame.x(figure.change(influence.atHigh())), top, bottom, HIGHER, drawn);
      out.add(new Node.Group("row-" + Sheet.identifier(TornadoFigure.constant(influence)), drawn));
    }
    out.add(
        new Node.Stroke(
            Outline.line(zero, frame.top(), zero, frame.bottom()), Theme.INK, 0.6, Dash.NONE));
  }

  private static void bar(
      double from, double to, double top, double bottom, Ink ink, List<Node> out) {
    if (Math.abs(to - from) > 0.05) {
      double left = Math.min(from, to);
      out.add(new Node.Fill(Outline.rectangle(left, top, Math.abs(to - from), bottom - top), ink));
    }
  }

  private static List<Flow.Item> legend() {
    return List.of(sample("constant lowered", LOWER), sample("constant raised", HIGHER));
  }

  private static Flow.Item sample(String text, Ink ink) {
    return new Flow.Item(
        text,
        Theme.INK,
        8,
        (at, middle) -> List.of(new Node.Fill(Outline.rectangle(at, middle - 2.5, 8, 5), ink)));
  }
}
