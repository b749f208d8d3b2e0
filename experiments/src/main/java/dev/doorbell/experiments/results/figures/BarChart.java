package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.BarFigure.Bar;
import dev.doorbell.experiments.results.figures.BarFigure.Panel;
import dev.doorbell.experiments.results.figures.Palette.Style;
import dev.doorbell.experiments.results.figures.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import java.util.ArrayList;
import java.util.List;

/** Lays out a {@link BarFigure}. */
final class BarChart {

  /** Of the room of a group, what its bars take. */
  private static final double FILLED = 0.84;

  private static final double SAMPLE = 6;

  /** Of a bar, points. */
  private static final double WIDEST = 28;

  /** So that the markers above the highest bars stay within the panel. */
  private static final double HEADROOM = 1.06;

  private final BarFigure figure;
  private final Palette palette;

  private BarChart(BarFigure figure) {
    this.figure = figure;
    this.palette = Palette.of(figure.series());
  }

  /** How a figure is laid out, {@code width} points wide. */
  static Sheet sheet(BarFigure figure, double width) {
    double high =
        figure.panels().stream()
            .flatMap(panel -> panel.bars().stream())
            .mapToDouble(bar -> Math.max(bar.value(), bar.upper()))
            .max()
            .orElse(1);
    double low =
        figure.panels().stream()
            .flatMap(panel -> panel.bars().stream())
            .mapToDouble(bar -> Math.min(bar.value(), bar.lower()))
            .min()
            .orElse(1);
    PlotAxis y =
        figure.y().log()
            ? Axes.decades(figure.y().title(), figure.y().unit(), low, high)
            : Axes.linear(figure.y().title(), figure.y().unit(), 0, HEADROOM * high, 6);
    return new Sheet(
        width,
        figure.panels().size(),
        _ -> words(figure.groupTitle(), figure.groups()),
        y,
        panel -> Math.clamp(0.62 * panel, 100, 140));
  }

  static Drawing draw(BarFigure figure, double width) {
    BarChart chart = new BarChart(figure);
    Sheet sheet = sheet(figure, width);
    List<Sheet.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      panels.add(new Sheet.Panel(panel.title(), 0, (frame, out) -> chart.bars(panel, frame, out)));
    }
    return sheet.draw(
        panels,
        new Sheet.Surroundings(
            figure.basisNote(), figure.samplesNote(), figure.provenance(), chart.legend()));
  }

  /** An axis of words, one place of width 1 each. */
  static PlotAxis words(String title, List<String> words) {
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i < words.size(); i++) {
      ticks.add(new Tick(i + 0.5, words.get(i), false));
    }
    return new PlotAxis(title, new Scale.Linear(0, Math.max(1, words.size())), ticks);
  }

  /** Of a bar, in groups: as wide as there is room for, but no wall. */
  static double barWidth(BarFigure figure, double panelWidth) {
    double group = panelWidth / Math.max(1, figure.groups().size());
    return Math.min(FILLED / figure.series().size(), WIDEST / group);
  }

  private void bars(Panel panel, Frame frame, List<Node> out) {
    double width = barWidth(figure, frame.right() - frame.left());
    double first = (1 - width * figure.series().size()) / 2;
    for (String series : figure.series()) {
      List<Node> drawn = new ArrayList<>();
      Style style = palette.style(series);
      for (Bar bar : panel.bars()) {
        if (bar.series().equals(series)) {
          double start = figure.groups().indexOf(bar.group()) + first;
          double from = frame.x(start + figure.series().indexOf(series) * width);
          double to = frame.x(start + (figure.series().indexOf(series) + 1) * width);
          if (figure.y().log()) {
            mark(bar, (from + to) / 2, frame, style, drawn);
          } else {
            bar(bar, from, to, frame, style, drawn);
          }
        }
      }
      String within = Sheet.identifier(panel.title());
      out.add(
          new Node.Group(
              Sheet.identifier(series) + (within.isEmpty() ? "" : "-" + within),
              Flow.role(series),
              drawn));
    }
  }

  /** On a logarithmic axis, where a bar has no foot, the median is a mark. */
  private static void mark(Bar bar, double at, Frame frame, Style style, List<Node> out) {
    double low = frame.y(bar.lower());
    double high = frame.y(bar.upper());
    if (low - high > 2 * Theme.MARKER) {
      out.add(new Node.Stroke(Outline.line(at, low, at, high), style.ink(), 0.7, Dash.NONE));
    }
    out.addAll(style.marker().at(at, frame.y(bar.value()), Theme.MARKER, style.ink()));
  }

  private static void bar(
      Bar bar, double from, double to, Frame frame, Style style, List<Node> out) {
    double top = frame.y(bar.value());
    double gap = Math.min(0.6, (to - from) / 8);
    out.add(
        new Node.Fill(
            Outline.rectangle(from + gap, top, to - from - 2 * gap, frame.bottom() - top),
            style.ink()));
    double low = frame.y(bar.lower());
    double high = frame.y(bar.upper());
    double middle = (from + to) / 2;
    double cap = Math.min(1.6, (to - from) / 4);
    if (low - high > Theme.HAIR) {
      out.add(whisker(middle, low, middle, high));
      out.add(whisker(middle - cap, low, middle + cap, low));
      out.add(whisker(middle - cap, high, middle + cap, high));
    }
    // The marker of the series tells bars apart without colour, where there is room above.
    if (to - from > 2 * Theme.MARKER) {
      double marker = 0.75 * Theme.MARKER;
      out.addAll(
          style.marker().at(middle, Math.min(top, high) - marker - 1.2, marker, style.ink()));
    }
  }

  private static Node whisker(double x0, double y0, double x1, double y1) {
    return new Node.Stroke(Outline.line(x0, y0, x1, y1), Theme.INK, 0.6, Dash.NONE);
  }

  private List<Flow.Item> legend() {
    List<Flow.Item> items = new ArrayList<>();
    for (String series : figure.series()) {
      items.add(swatch(series, palette.style(series)));
    }
    return items;
  }

  /** A filled square and the marker beside it. */
  static Flow.Item swatch(String series, Style style) {
    return new Flow.Item(
        series,
        Theme.INK,
        2 * SAMPLE,
        (at, middle) -> {
          List<Node> sample = new ArrayList<>();
          sample.add(
              new Node.Fill(
                  Outline.rectangle(at, middle - SAMPLE / 2, SAMPLE, SAMPLE), style.ink()));
          sample.addAll(
              style.marker().at(at + 1.55 * SAMPLE, middle, 0.75 * Theme.MARKER, style.ink()));
          return sample;
        },
        series);
  }
}
