package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.figures.LineFigure.Mark;
import dev.doorbell.experiments.figures.Palette.Style;
import dev.doorbell.experiments.figures.drawing.Node;
import dev.doorbell.experiments.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The labels of crossovers above a panel: which two lines, by their markers, and where. Labels that
 * would touch go to a row above.
 */
final class MarkRow {

  static final double LEADING = 8;

  private static final double MARKER = 1.8;
  private static final double MARKERS = 4.4 * MARKER + 2;

  /**
   * One label in its row, row 0 next to the panel; {@code left} counts from the panel's left edge.
   */
  private record Placed(Mark mark, String text, double left, int row) {}

  private final List<Placed> placed;

  private MarkRow(List<Placed> placed) {
    this.placed = placed;
  }

  static MarkRow place(List<Mark> marks, double panelWidth, ToDoubleFunction<Mark> position) {
    List<Placed> placed = new ArrayList<>();
    List<Double> ends = new ArrayList<>(); // where each row is free from, marks being in order
    for (Mark mark : marks.stream().sorted((a, b) -> Double.compare(a.x(), b.x())).toList()) {
      String text = Units.bytes(mark.x());
      double width = MARKERS + Typeface.width(text, Theme.SMALL);
      double left = Math.clamp(position.applyAsDouble(mark) - width / 2, 0, panelWidth - width);
      int row = 0;
      while (row < ends.size() && ends.get(row) > left) {
        row++;
      }
      double end = left + width + 4;
      if (row == ends.size()) {
        ends.add(end);
      } else {
        ends.set(row, end);
      }
      placed.add(new Placed(mark, text, left, row));
    }
    return new MarkRow(placed);
  }

  int rows() {
    return placed.stream().mapToInt(p -> p.row() + 1).max().orElse(0);
  }

  List<Node> labels(double panelLeft, double panelTop, Map<String, Style> styles) {
    List<Node> nodes = new ArrayList<>();
    for (Placed p : placed) {
      double middle = panelTop - LEADING * (p.row() + 0.5);
      double x = panelLeft + p.left() + MARKER;
      nodes.addAll(marker(styles, p.mark().first(), x, middle));
      nodes.addAll(marker(styles, p.mark().second(), x + 2.4 * MARKER, middle));
      nodes.add(
          new Node.Label(
              p.text(),
              panelLeft + p.left() + MARKERS,
              middle + Typeface.capHeight(Theme.SMALL) / 2,
              Theme.SMALL,
              Anchor.START,
              Theme.INK));
    }
    return nodes;
  }

  private static List<Node> marker(Map<String, Style> styles, String series, double x, double y) {
    Style style = styles.get(series);
    return style.marker().at(x, y, MARKER, style.ink());
  }
}
