package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.ParityFigure.Point;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Marker;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Csv;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Modelled values against measured ones, both axes logarithmic, with the line of equality and a
 * band about it. Quantities of several units share the axes: a point's distance from the line is a
 * ratio, whatever the unit.
 *
 * @param band half its width, relative: 0.1 is 10 %; points outside have their name beside them
 * @param points all positive
 */
public record ParityFigure(FigureNotes notes, double band, List<Point> points) implements Figure {
  private static final double WIDTH = 360;

  /**
   * One quantity.
   *
   * @param name of it; empty: it has none in the figure
   * @param series that it belongs to, such as its machine
   * @param fitted whether the model was fitted to it; drawn hollow
   */
  public record Point(
      String name, String series, String unit, boolean fitted, double measured, double modelled) {}

  public ParityFigure {
    points = List.copyOf(points);
    if (points.isEmpty()) {
      throw new IllegalArgumentException("figure " + notes.name() + " has no point");
    }
  }

  /** Neighbouring points differ by a few percent: a column is too narrow. */
  @Override
  public Drawing draw() {
    return draw(WIDTH);
  }

  @Override
  public Drawing draw(double width) {
    return new Chart().drawing(width);
  }

  boolean isOutside(Point point) {
    double ratio = point.modelled() / point.measured();
    return ratio < 1 - band || ratio > 1 + band;
  }

  private final class Chart {

    private static final double GAP = 2.5;

    private final List<String> series;
    private final Palette palette;
    private final double low;
    private final double high;

    Chart() {
      this.series = points().stream().map(Point::series).distinct().toList();
      this.palette = Palette.of(series);
      this.low = points().stream().mapToDouble(Chart::least).min().orElseThrow();
      this.high = points().stream().mapToDouble(Chart::greatest).max().orElseThrow();
    }

    private static double least(Point point) {
      return Math.min(point.measured(), point.modelled());
    }

    private static double greatest(Point point) {
      return Math.max(point.measured(), point.modelled());
    }

    Drawing drawing(double width) {
      String units = String.join(", ", units());
      PanelLayout layout =
          new PanelLayout(
              width,
              0,
              1,
              _ -> AxisBuilder.decades("measured, " + units, "", low, high),
              AxisBuilder.decades("modelled, " + units, "", low, high),
              panel -> panel);
      SequencedMap<String, String> tables = new LinkedHashMap<>();
      tables.put(notes().file(".csv"), csv());
      return layout.draw(
          notes(), List.of(new PanelLayout.Panel("", 0, new Contents())), legend(), tables);
    }

    private List<String> units() {
      return points().stream()
          .map(point -> point.unit().equals("us") ? "µs" : point.unit())
          .distinct()
          .toList();
    }

    private List<Legend.Item> legend() {
      List<Legend.Item> items = new ArrayList<>();
      series.forEach(name -> items.add(Legend.Item.mark(name, Marker.DISC, paint(name), false)));
      if (points().stream().anyMatch(Point::fitted)) {
        items.add(Legend.Item.mark("hollow: fitted to it", Marker.DISC, Theme.QUIET, true));
      }
      items.add(Legend.Item.line("equal", Theme.FRAME, 10, Theme.HAIR, Dash.NONE, ""));
      String band = "within %s %%".formatted(Units.digits(100 * band(), 2));
      items.add(Legend.Item.box(band, 8, 5, Theme.BAND));
      return items;
    }

    private Paint paint(String name) {
      return palette.style(name).paint();
    }

    private final class Contents implements PanelLayout.Contents {
      @Override
      public void below(PlotArea area, List<Node> out) {
        double first = area.xAxis().scale().low();
        double last = area.xAxis().scale().high();
        double over = 1 + band();
        double under = 1 - band();
        double[][] corners = {
          {first, first},
          {first, first * over},
          {last / over, last},
          {last, last},
          {last, last * under},
          {first / under, first}
        };
        double[] page = new double[2 * corners.length];
        for (int i = 0; i < corners.length; i++) {
          page[2 * i] = area.x(corners[i][0]);
          page[2 * i + 1] = area.y(corners[i][1]);
        }
        out.add(new Node.Fill(Outline.polygon(page), Theme.BAND));
      }

      @Override
      public void above(PlotArea area, List<Node> out) {
        double first = area.xAxis().scale().low();
        double last = area.xAxis().scale().high();
        out.add(
            Node.Stroke.line(
                area.x(first), area.y(first), area.x(last), area.y(last), Theme.FRAME, Theme.HAIR));
        for (String name : series) {
          marks(area, name, false, out);
          marks(area, name, true, out);
        }
        out.add(new Node.Group("names", names(area)));
      }

      private void marks(PlotArea area, String name, boolean fitted, List<Node> out) {
        List<Node> drawn = new ArrayList<>();
        for (Point point : points()) {
          if (point.series().equals(name) && point.fitted() == fitted) {
            double x = area.x(point.measured());
            double y = area.y(point.modelled());
            drawn.addAll(
                fitted
                    ? Marker.DISC.hollow(x, y, Theme.MARKER, paint(name))
                    : Marker.DISC.at(x, y, Theme.MARKER, paint(name)));
          }
        }
        if (!drawn.isEmpty()) {
          String id = "points-%s%s".formatted(Identifier.of(name), fitted ? "-fitted" : "");
          out.add(new Node.Group(id, Legend.role(name), drawn));
        }
      }

      /**
       * A name stands where it covers neither a point nor another name, with a line to its point
       * where it is not beside it; else nowhere, and the table has it.
       */
      private List<Node> names(PlotArea area) {
        List<Box> taken = new ArrayList<>();
        for (Point point : points()) {
          double x = area.x(point.measured());
          double y = area.y(point.modelled());
          taken.add(
              new Box(x - Theme.MARKER, y - Theme.MARKER, x + Theme.MARKER, y + Theme.MARKER));
        }
        List<Node> names = new ArrayList<>();
        for (Point point : points()) {
          if (!point.name().isEmpty() && isOutside(point)) {
            place(area, point, taken, names);
          }
        }
        return names;
      }

      private void place(PlotArea area, Point point, List<Box> taken, List<Node> names) {
        double x = area.x(point.measured());
        double y = area.y(point.modelled());
        double wide = Typeface.room(point.name(), Theme.NOTE);
        double tall = Typeface.capHeight(Theme.NOTE);
        for (double down : List.of(0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0)) {
          for (boolean right : List.of(true, false)) {
            double left = right ? x + Theme.MARKER + GAP : x - Theme.MARKER - GAP - wide;
            double base = y + tall / 2 + down * (tall + GAP);
            Box box = new Box(left, base - tall, left + wide, base + 1);
            if (box.isWithin(area) && taken.stream().noneMatch(box::meets)) {
              taken.add(box);
              if (down != 0) {
                double end = right ? left - 1 : left + wide + 1;
                names.add(
                    Node.Stroke.line(x, y, end, base - tall / 2, Theme.FRAME, Theme.HAIR / 2));
              }
              names.add(
                  new Node.Label(point.name(), left, base, Theme.NOTE, Anchor.START, Theme.INK));
              return;
            }
          }
        }
      }
    }

    private record Box(double left, double top, double right, double bottom) {
      boolean meets(Box other) {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
      }

      boolean isWithin(PlotArea area) {
        return left >= area.left()
            && right <= area.right()
            && top >= area.top()
            && bottom <= area.bottom();
      }
    }

    private String csv() {
      List<List<Object>> rows = new ArrayList<>();
      rows.add(List.of("row", "machine", "unit", "fitted", "measured", "modelled"));
      for (Point point : points()) {
        rows.add(
            List.of(
                point.name(),
                point.series(),
                point.unit(),
                point.fitted(),
                point.measured(),
                point.modelled()));
      }
      return Csv.text(rows);
    }
  }
}
