package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.LineFigure.Line;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Point;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.print.Csv;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The lines of a panel as CSV. */
final class LineTables {
  private LineTables() {}

  /**
   * One row for each abscissa: {@code x}, then median, {@code -lo} and {@code -hi} of each line,
   * and the basis.
   */
  static String joined(List<Line> lines, String basis) {
    List<Object> header = new ArrayList<>(List.of("x"));
    Map<Double, Map<String, Point>> byX = new TreeMap<>();
    for (Line line : lines) {
      String name = Identifier.of(line.series());
      header.addAll(List.of(name, name + "-lo", name + "-hi"));
      for (Point point : line.points()) {
        byX.computeIfAbsent(point.x(), _ -> new LinkedHashMap<>()).put(line.series(), point);
      }
    }
    List<List<Object>> rows = new ArrayList<>(List.of(header));
    Point none = new Point(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    byX.forEach(
        (x, points) -> {
          List<Object> row = new ArrayList<>(List.of(x));
          for (Line line : lines) {
            Point point = points.getOrDefault(line.series(), none);
            row.addAll(List.of(point.y(), point.lower(), point.upper()));
          }
          rows.add(row);
        });
    return Csv.text(rows, basis);
  }

  /**
   * Columns {@code -x} and share for each line, from zero at its first value to one at the edge,
   * and the basis.
   *
   * @param edge end of the abscissa
   */
  static String stepped(List<Line> lines, double edge, String basis) {
    List<Object> header = new ArrayList<>();
    lines.forEach(
        line ->
            header.addAll(
                List.of(Identifier.of(line.series()) + "-x", Identifier.of(line.series()))));
    List<List<Object>> rows = new ArrayList<>(List.of(header));
    int longest = lines.stream().mapToInt(line -> line.points().size()).max().orElse(0);
    for (int row = -1; row <= longest; row++) {
      List<Object> cells = new ArrayList<>();
      for (Line line : lines) {
        List<Point> points = line.points();
        boolean step = row < points.size();
        boolean last = row == points.size();
        cells.add(step ? points.get(Math.max(0, row)).x() : last ? edge : Double.NaN);
        cells.add(
            row < 0 ? 0.0 : step ? points.get(row).y() : last ? points.getLast().y() : Double.NaN);
      }
      rows.add(cells);
    }
    return Csv.text(rows, basis);
  }
}
