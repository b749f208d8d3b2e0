package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Series;
import dev.doorbell.experiments.results.figures.drawing.Series.Data;
import dev.doorbell.experiments.results.figures.drawing.Series.Shape;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Csv;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/** Lays out a {@link TornadoFigure}. */
final class TornadoChart {

  private static final double ROW = 12;
  private static final double BAR = 0.62;
  private static final Paint LOWER = new Paint(0x0072B2);
  private static final Paint HIGHER = new Paint(0xD55E00);

  private final TornadoFigure figure;

  TornadoChart(TornadoFigure figure) {
    this.figure = figure;
  }

  Drawing drawing(double width) {
    List<String> rows =
        figure.influences().stream()
            .map(each -> TornadoFigure.constant(each) + "  " + TornadoFigure.value(each))
            .toList();
    PanelLayout layout =
        new PanelLayout(
            width,
            1,
            this::across,
            AxisBuilder.rows("", rows),
            _ -> ROW * Math.max(1, rows.size()));
    SequencedMap<String, String> tables = new LinkedHashMap<>();
    tables.put(figure.notes().file(".csv"), csv());
    String title = figure.notes().provenance().title();
    return layout.draw(
        figure.notes(),
        List.of(new PanelLayout.Panel(title, 0, this::bars)),
        List.of(
            Legend.Item.box("constant lowered", 8, 5, LOWER),
            Legend.Item.box("constant raised", 8, 5, HIGHER)),
        tables);
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
    return AxisBuilder.linear("change of the prediction", "%", low, high, (int) (width / 24));
  }

  private void bars(PlotArea area, List<Node> out) {
    int rows = figure.influences().size();
    double zero = area.x(0);
    List<Node> bars = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      Influence influence = figure.influences().get(i);
      double top = area.y(rows - i - (1 - BAR) / 2);
      double bottom = area.y(rows - i - (1 + BAR) / 2);
      List<Node> drawn = new ArrayList<>();
      bar(zero, area.x(figure.change(influence.atLow())), top, bottom, LOWER, drawn);
      bar(zero, area.x(figure.change(influence.atHigh())), top, bottom, HIGHER, drawn);
      String id = "row-" + Identifier.of(TornadoFigure.constant(influence));
      bars.add(new Node.Group(id, drawn));
    }
    out.add(
        new Node.Plot(
            List.of(
                series("lowered", LOWER, "at-low-percent"),
                series("raised", HIGHER, "at-high-percent")),
            bars));
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

  private Series series(String name, Paint paint, String column) {
    Data data = new Data.Columns(figure.notes().file(".csv"), column, 0, "row", false);
    return new Series(name, Shape.BARS_ACROSS, data, paint, BAR, Dash.NONE, null);
  }

  /** One row for each constant; {@code row} counts from the bottom. */
  private String csv() {
    List<List<Object>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "row",
            "constant",
            "value",
            "unit",
            "low",
            "high",
            "at-low-percent",
            "at-high-percent",
            "range",
            "origin"));
    int n = figure.influences().size();
    for (int i = 0; i < n; i++) {
      Influence influence = figure.influences().get(i);
      rows.add(
          List.of(
              n - i - 0.5,
              TornadoFigure.constant(influence),
              influence.constant().value(),
              influence.constant().unit(),
              influence.low(),
              influence.high(),
              figure.change(influence.atLow()),
              figure.change(influence.atHigh()),
              influence.range(),
              influence.constant().origin().name().toLowerCase(Locale.ROOT)));
    }
    return Csv.text(rows, figure.notes().provenance().basis());
  }
}
