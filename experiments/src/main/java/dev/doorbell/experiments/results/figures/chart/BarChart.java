package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
import dev.doorbell.experiments.results.figures.chart.BarFigure.Bar;
import dev.doorbell.experiments.results.figures.chart.BarFigure.Panel;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Series;
import dev.doorbell.experiments.results.figures.drawing.Series.Data;
import dev.doorbell.experiments.results.figures.drawing.Series.Shape;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Csv;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Lays out a {@link BarFigure}. */
final class BarChart {

  /** Share of a group's width that its bars fill. */
  private static final double FILLED = 0.84;

  /** Side of the square in the legend, points. */
  static final double SAMPLE = 6;

  /** Greatest width of a bar, points. */
  private static final double WIDEST = 28;

  /** Ticks of a linear ordinate. */
  private static final int STEPS = 6;

  /** Room above the highest bar, so that its marker stays within the panel. */
  private static final double HEADROOM = 1.06;

  private final BarFigure figure;
  private final FigureStyle style;
  private final Palette palette;
  private final PanelLayout layout;
  private final SequencedMap<String, String> tables = new LinkedHashMap<>();

  BarChart(BarFigure figure, double width) {
    this.figure = figure;
    this.style = figure.notes().style();
    this.palette = Palette.of(figure.series(), style.palette());
    this.layout =
        new PanelLayout(
            width,
            Legend.aside(style, legend()),
            figure.panels().size(),
            _ ->
                AxisBuilder.words(
                    figure.groupTitle(),
                    figure.groups().stream()
                        .map(value -> style.shown(Role.ABSCISSA, value))
                        .toList()),
            verticalAxis(),
            panel -> Math.clamp(0.62 * panel, 100, 140));
  }

  private PlotAxis verticalAxis() {
    Extent extent = new Extent(figure.y().log());
    figure.bars().forEach(bar -> extent.add(bar.value(), bar.lower(), bar.upper()));
    double low = figure.limits().yLow().orElse(extent.low(1));
    double high = figure.limits().yHigh().orElse(extent.high(1));
    PlotAxis usual =
        figure.y().log()
            ? AxisBuilder.decades(figure.y().title(), figure.y().unit(), low, high)
            : AxisBuilder.linear(figure.y().title(), figure.y().unit(), 0, HEADROOM * high, STEPS);
    return figure.limits().vertical(usual, figure.y().unit(), STEPS);
  }

  Drawing drawing() {
    List<PanelLayout.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      boolean one = panel.title().isEmpty() || figure.panels().size() == 1;
      String table = (one ? figure.notes() : figure.notes().ofPanel(panel.title())).file(".csv");
      tables.put(table, csv(panel));
      panels.add(
          new PanelLayout.Panel(panel.title(), 0, (area, out) -> bars(panel, table, area, out)));
    }
    return layout.draw(figure.notes(), panels, legend(), tables);
  }

  private List<Legend.Item> legend() {
    return figure.series().stream()
        .map(
            series ->
                Legend.Item.square(
                    style.shown(Role.SERIES, series), series, SAMPLE, palette.style(series)))
        .toList();
  }

  /** Width of a bar, in groups. */
  private double barWidth(PlotArea area) {
    double group = (area.right() - area.left()) / Math.max(1, figure.groups().size());
    return Math.min(FILLED / figure.series().size(), WIDEST / group);
  }

  private void bars(Panel panel, String table, PlotArea area, List<Node> out) {
    int count = figure.series().size();
    double width = barWidth(area);
    double first = (1 - width * count) / 2;
    for (int i = 0; i < count; i++) {
      String series = figure.series().get(i);
      List<Node> drawn = new ArrayList<>();
      List<Node> arrows = new ArrayList<>();
      Style style = palette.style(series);
      for (Bar bar : panel.bars()) {
        if (bar.series().equals(series)) {
          double start = figure.groups().indexOf(bar.group()) + first;
          double from = area.x(start + i * width);
          double to = area.x(start + (i + 1) * width);
          if (figure.y().log()) {
            mark(bar, (from + to) / 2, area, style, drawn);
          } else {
            bar(bar, from, to, area, style, drawn);
          }
          arrows.addAll(
              Clipping.arrows(
                  area, (from + to) / 2, area.y(bar.lower()), area.y(bar.upper()), style.paint()));
        }
      }
      Series plotted =
          new Series(
              series,
              figure.y().log() ? Shape.MARKERS : Shape.BARS,
              new Data.Columns(table, "at", first + (i + 0.5) * width, Identifier.of(series), true),
              style.paint(),
              0.9 * width,
              Dash.NONE,
              style.marker());
      List<Node> nodes = new ArrayList<>(List.of(new Node.Plot(plotted, drawn)));
      nodes.addAll(arrows);
      out.add(
          new Node.Group(
              Identifier.of(series) + Identifier.within(panel.title()),
              Legend.role(series),
              nodes));
    }
    Annotations.draw(figure.limits(), area, out);
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
      out.addAll(style.marker().at(at, y, Theme.MARKER, style.paint()));
    }
  }

  private static void bar(
      Bar bar, double from, double to, PlotArea area, Style style, List<Node> out) {
    double top = Clipping.height(area, area.y(bar.value()));
    double gap = Math.min(0.6, (to - from) / 8);
    out.add(
        new Node.Fill(
            Outline.rectangle(from + gap, top, to - from - 2 * gap, area.bottom() - top),
            style.paint()));
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

  /** One row for each group: its place, its name, then median and interval of each series. */
  private String csv(Panel panel) {
    List<Object> header = new ArrayList<>(List.of("at", "group"));
    for (String series : figure.series()) {
      String name = Identifier.of(series);
      header.addAll(List.of(name, name + "-lo", name + "-hi"));
    }
    List<List<Object>> rows = new ArrayList<>(List.of(header));
    Bar none = new Bar("", "", Double.NaN, Double.NaN, Double.NaN);
    for (int at = 0; at < figure.groups().size(); at++) {
      String group = figure.groups().get(at);
      List<Object> cells = new ArrayList<>(List.of(at, Identifier.of(group)));
      for (String series : figure.series()) {
        Bar bar =
            panel.bars().stream()
                .filter(each -> each.group().equals(group) && each.series().equals(series))
                .findFirst()
                .orElse(none);
        cells.addAll(List.of(bar.value(), bar.lower(), bar.upper()));
      }
      rows.add(cells);
    }
    return Csv.text(rows, figure.notes().provenance().basis());
  }
}
