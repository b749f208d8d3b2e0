package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.LineFigure.Line;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Point;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lines of a panel that would cover each other: they are drawn beside each other, each a little to
 * the left or right of its place.
 */
final class SideBySide {
  /** From one line to the next, points: markers touch. */
  private static final double STEP = 3.2;

  /** Heights that differ by less look equal, points. */
  private static final double SAME = 0.6;

  /** Lines with this share of their common places at one height are taken for equal. */
  private static final double MOST = 0.75;

  private SideBySide() {}

  /** How far each line is moved to the right, points; lines that stay are not in it. */
  static Map<String, Double> offsets(List<Line> lines, PlotArea area) {
    List<List<Line>> groups = new ArrayList<>();
    for (Line line : lines) {
      groups.stream()
          .filter(group -> group.stream().anyMatch(other -> equal(line, other, area)))
          .findFirst()
          .ifPresentOrElse(
              group -> group.add(line), () -> groups.add(new ArrayList<>(List.of(line))));
    }
    Map<String, Double> offsets = new HashMap<>();
    for (List<Line> group : groups) {
      for (int i = 0; i < group.size() && group.size() > 1; i++) {
        offsets.put(group.get(i).series(), (i - (group.size() - 1) / 2.0) * STEP);
      }
    }
    return offsets;
  }

  private static boolean equal(Line one, Line other, PlotArea area) {
    Map<Double, Double> heights = new HashMap<>();
    other.points().forEach(point -> heights.put(point.x(), area.y(point.y())));
    int common = 0;
    int same = 0;
    for (Point point : one.points()) {
      Double height = heights.get(point.x());
      if (height != null) {
        common++;
        same += Math.abs(height - area.y(point.y())) < SAME ? 1 : 0;
      }
    }
    return common > 0 && same >= MOST * common;
  }
}
