package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
import dev.doorbell.experiments.results.figures.chart.BarFigure.Bar;
import dev.doorbell.experiments.results.figures.chart.BarFigure.Panel;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Quantified;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Groups of bars, one bar a series in each.
 *
 * @param groupTitle what the groups are
 * @param groups left to right
 * @param series left to right within a group
 * @param limits of the ordinate
 */
public record BarFigure(
    FigureNotes notes,
    String groupTitle,
    Quantified y,
    List<String> groups,
    List<String> series,
    List<Panel> panels,
    AxisLimits limits)
    implements Figure {

  static final double SAMPLE = 6;

  /** Bars over the same axes. */
  public record Panel(String title, List<Bar> bars) {}

  /**
   * A median with its interval.
   *
   * @param untested whether no published row tests it; drawn hollow
   */
  public record Bar(
      String group, String series, double value, double lower, double upper, boolean untested) {}

  @Override
  public Drawing draw(double width) {
    return new Chart(width).drawing();
  }

  @Override
  public List<Figure> panelByPanel() {
    return split(
        panels,
        panel ->
            new BarFigure(
                notes.ofPanel(panel.title()),
                groupTitle,
                y,
                groups,
                series,
                List.of(panel),
                limits));
  }

  Stream<Bar> bars() {
    return panels.stream().flatMap(panel -> panel.bars().stream());
  }

  private final class Chart {

    /** Share of a group's width that its bars fill. */
    private static final double FILLED = 0.84;

    /** Greatest width of a bar, points. */
    private static final double WIDEST = 28;

    private static final int STEPS = 6;

    /** Room above the highest bar, so that its marker stays within the panel. */
    private static final double HEADROOM = 1.06;

    private final FigureStyle style;
    private final Palette palette;
    private final PanelLayout layout;

    Chart(double width) {
      this.style = notes().style();
      this.palette = Palette.of(series(), style.palette());
      this.layout =
          new PanelLayout(
              width,
              Legend.aside(style, legend()),
              panels().size(),
              _ ->
                  AxisBuilder.words(
                      groupTitle(),
                      groups().stream().map(value -> style.shown(Role.ABSCISSA, value)).toList()),
              verticalAxis(),
              panel -> Math.clamp(0.62 * panel, 100, 140));
    }

    private PlotAxis verticalAxis() {
      Extent extent = new Extent(y().log());
      bars().forEach(bar -> extent.add(bar.value(), bar.lower(), bar.upper()));
      double low = limits().yLow().orElse(extent.low(1));
      double high = limits().yHigh().orElse(extent.high(1));
      PlotAxis usual =
          y().log()
              ? AxisBuilder.decades(y().title(), y().unit(), low, high)
              : AxisBuilder.linear(y().title(), y().unit(), 0, HEADROOM * high, STEPS);
      return limits().vertical(usual, y().unit(), STEPS);
    }

    Drawing drawing() {
      List<PanelLayout.Panel> panels = new ArrayList<>();
      for (Panel panel : panels()) {
        panels.add(
            new PanelLayout.Panel(panel.title(), 0, (area, out) -> drawBars(panel, area, out)));
      }
      return layout.draw(notes(), panels, legend());
    }

    private List<Legend.Item> legend() {
      List<Legend.Item> items = new ArrayList<>();
      for (String series : series()) {
        items.add(
            Legend.Item.square(
                style.shown(Role.SERIES, series), series, SAMPLE, palette.style(series)));
      }
      if (bars().anyMatch(Bar::untested)) {
        items.add(Legend.Item.untested());
      }
      return items;
    }

    private double barWidth(PlotArea area) {
      double group = (area.right() - area.left()) / Math.max(1, groups().size());
      return Math.min(FILLED / series().size(), WIDEST / group);
    }

    private void drawBars(Panel panel, PlotArea area, List<Node> out) {
      int count = series().size();
      double width = barWidth(area);
      double first = (1 - width * count) / 2;
      for (int i = 0; i < count; i++) {
        String series = series().get(i);
        List<Node> drawn = new ArrayList<>();
        List<Node> arrows = new ArrayList<>();
        Style style = palette.style(series);
        for (Bar bar : panel.bars()) {
          if (bar.series().equals(series)) {
            double start = groups().indexOf(bar.group()) + first;
            double from = area.x(start + i * width);
            double to = area.x(start + (i + 1) * width);
            if (y().log()) {
              mark(bar, (from + to) / 2, area, style, drawn);
            } else {
              bar(bar, from, to, area, style, drawn);
            }
            arrows.addAll(
                Clipping.arrows(
                    area,
                    (from + to) / 2,
                    area.y(bar.lower()),
                    area.y(bar.upper()),
                    style.paint()));
          }
        }
        drawn.addAll(arrows);
        out.add(
            new Node.Group(
                Identifier.of(series) + Identifier.within(panel.title()),
                Legend.role(series),
                drawn));
      }
      limits().drawNotes(area, out);
    }

    /** On a logarithmic axis, where a bar has no foot, the median is a mark. */
    private static void mark(Bar bar, double at, PlotArea area, Style style, List<Node> out) {
      double low = Clipping.height(area, area.y(bar.lower()));
      double high = Clipping.height(area, area.y(bar.upper()));
      if (low - high > 2 * Theme.MARKER) {
        out.add(Stroke.line(at, low, at, high, style.paint(), 0.7));
      }
      double y = area.y(bar.value());
      if (Clipping.inside(area, at, y)) {
        out.addAll(
            bar.untested()
                ? style.marker().hollow(at, y, Theme.MARKER, style.paint())
                : style.marker().at(at, y, Theme.MARKER, style.paint()));
      }
    }

    private static void bar(
        Bar bar, double from, double to, PlotArea area, Style style, List<Node> out) {
      double top = Clipping.height(area, area.y(bar.value()));
      double gap = Math.min(0.6, (to - from) / 8);
      double edge = bar.untested() ? 0.5 : 0;
      Outline outline =
          Outline.rectangle(
              from + gap + edge,
              top + edge,
              to - from - 2 * (gap + edge),
              Math.max(0, area.bottom() - top - edge));
      out.add(new Node.Fill(outline, bar.untested() ? Paint.WHITE : style.paint()));
      if (bar.untested()) {
        out.add(new Stroke(outline, style.paint(), 1, Dash.NONE));
      }
      double low = Clipping.height(area, area.y(bar.lower()));
      double high = Clipping.height(area, area.y(bar.upper()));
      double middle = (from + to) / 2;
      double cap = Math.min(1.6, (to - from) / 4);
      if (low - high > Theme.HAIR) {
        out.add(Stroke.line(middle, low, middle, high, Theme.INK, 0.6));
        out.add(Stroke.line(middle - cap, low, middle + cap, low, Theme.INK, 0.6));
        out.add(Stroke.line(middle - cap, high, middle + cap, high, Theme.INK, 0.6));
      }
      // The marker of the series tells bars apart without colour, where there is room above.
      if (to - from > 2 * Theme.MARKER) {
        double marker = 0.75 * Theme.MARKER;
        out.addAll(
            style.marker().at(middle, Math.min(top, high) - marker - 1.2, marker, style.paint()));
      }
    }
  }
}
