package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.LineFigure.Mark;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The labels of crossovers above a panel: which two lines, by their markers, and where. Labels that
 * would touch are pushed apart and tied to their places by leaders; those for which a row has no
 * room go to a row above.
 */
final class CrossoverLabels {

  private static final double LEADING = 8;
  private static final double LEADER = 3.5;
  private static final double GAP = 4;
  private static final double MARKER = 1.8;
  private static final double MARKERS = 4.4 * MARKER + 2;

  /**
   * One label; {@code at} and {@code left} count from the panel's left edge, row 0 is next to the
   * panel.
   */
  private record Placed(Mark mark, String text, double at, double left, int row) {

    double width() {
      return MARKERS + Typeface.room(text, Theme.SMALL);
    }

    Placed moved(double newLeft, int newRow) {
      return new Placed(mark, text, at, newLeft, newRow);
    }
  }

  private final List<Placed> placed;

  private CrossoverLabels(List<Placed> placed) {
    this.placed = placed;
  }

  static CrossoverLabels place(
      List<Mark> marks,
      double panelWidth,
      ToDoubleFunction<Mark> position,
      Function<Mark, String> text) {
    List<Placed> result = new ArrayList<>();
    List<Placed> row = new ArrayList<>();
    double used = 0;
    for (Mark mark : marks.stream().sorted(Comparator.comparingDouble(Mark::x)).toList()) {
      Placed next = new Placed(mark, text.apply(mark), position.applyAsDouble(mark), 0, 0);
      if (!row.isEmpty() && used + GAP + next.width() > panelWidth) {
        result.addAll(spread(row, panelWidth, result.isEmpty() ? 0 : result.getLast().row() + 1));
        row.clear();
      }
      used = row.isEmpty() ? next.width() : used + GAP + next.width();
      row.add(next);
    }
    result.addAll(spread(row, panelWidth, result.isEmpty() ? 0 : result.getLast().row() + 1));
    return new CrossoverLabels(result);
  }

  /**
   * Centres each label on its place, then pushes them right until none touch and left until all are
   * in.
   */
  private static List<Placed> spread(List<Placed> labels, double panelWidth, int row) {
    int n = labels.size();
    double[] left = new double[n];
    double free = 0;
    for (int i = 0; i < n; i++) {
      double width = labels.get(i).width();
      left[i] = Math.max(free, labels.get(i).at() - width / 2);
      free = left[i] + width + GAP;
    }
    double limit = panelWidth;
    List<Placed> placed = new ArrayList<>();
    for (int i = n - 1; i >= 0; i--) {
      left[i] = Math.min(left[i], limit - labels.get(i).width());
      limit = left[i] - GAP;
      placed.addFirst(labels.get(i).moved(left[i], row));
    }
    return placed;
  }

  /** Height of labels and leaders, points; 0 where there are none. */
  double height() {
    int rows = placed.stream().mapToInt(p -> p.row() + 1).max().orElse(0);
    return rows == 0 ? 0 : rows * LEADING + LEADER;
  }

  List<Node> draw(double panelLeft, double panelTop, Palette palette, String within) {
    List<Node> groups = new ArrayList<>();
    for (Placed p : placed) {
      List<Node> nodes = new ArrayList<>();
      double left = panelLeft + p.left();
      double middle = panelTop - LEADER - LEADING * (p.row() + 0.5);
      if (p.row() == 0) {
        double foot = Math.clamp(p.at(), p.left() + MARKERS / 2, p.left() + p.width() - 4);
        nodes.add(
            Node.Stroke.line(
                panelLeft + p.at(),
                panelTop,
                panelLeft + foot,
                panelTop - LEADER + 0.5,
                Theme.BAND_CENTRE,
                Theme.HAIR));
      }
      nodes.addAll(marker(palette, p.mark().first(), left + MARKER, middle));
      nodes.addAll(marker(palette, p.mark().second(), left + 3.4 * MARKER, middle));
      nodes.add(
          new Node.Label(
              p.text(),
              left + MARKERS,
              middle + Typeface.capHeight(Theme.SMALL) / 2,
              Theme.SMALL,
              Anchor.START,
              Theme.INK));
      groups.add(
          new Node.Group("label-%d%s".formatted(groups.size() + 1, within), role(p.mark()), nodes));
    }
    return groups;
  }

  /** Role of a crossover: that of both of its lines. */
  static String role(Mark mark) {
    return Legend.role(mark.first()) + " " + Legend.role(mark.second());
  }

  private static List<Node> marker(Palette palette, String series, double x, double y) {
    Style style = palette.style(series);
    return style.marker().at(x, y, MARKER, style.paint());
  }
}
