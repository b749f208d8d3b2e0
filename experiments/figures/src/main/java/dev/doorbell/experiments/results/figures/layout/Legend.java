package dev.doorbell.experiments.results.figures.layout;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Marker;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.List;

/** Items set one after the other in as many rows as the width asks for: legends and notes. */
public final class Legend {

  /**
   * One item.
   *
   * @param text behind the sample
   * @param sample width kept before the text; 0 for none
   * @param symbol draws the sample
   * @param series that the item explains, as {@link #role} names it; empty for none
   */
  public record Item(String text, Paint paint, double sample, Symbol symbol, String series) {

    static Item text(String text, Paint paint) {
      return new Item(text, paint, 0, (left, middle) -> List.of(), "");
    }

    /** A box of a colour. */
    public static Item box(String text, double width, double height, Paint paint) {
      return new Item(
          text,
          Theme.INK,
          width,
          (at, middle) -> {
            Outline box = Outline.rectangle(at, middle - height / 2, width, height);
            return List.of(new Node.Fill(box, paint));
          },
          "");
    }

    public static Item line(
        String text, Paint paint, double sample, double width, Dash dash, String series) {
      return new Item(
          text,
          series.isEmpty() ? Theme.QUIET : Theme.INK,
          sample,
          (at, middle) -> {
            Outline line = Outline.line(at, middle, at + sample, middle);
            return List.of(new Node.Stroke(line, paint, width, dash));
          },
          series);
    }

    /** A marker alone. */
    public static Item mark(String text, Marker marker, Paint paint, boolean hollow) {
      double size = 2 * Theme.MARKER;
      return new Item(
          text,
          Theme.INK,
          size,
          (at, middle) ->
              hollow
                  ? marker.hollow(at + size / 2, middle, Theme.MARKER, paint)
                  : marker.at(at + size / 2, middle, Theme.MARKER, paint),
          "");
    }

    /** The note on series that are drawn hollow. */
    public static Item untested() {
      return mark("hollow: no published row tests it", Marker.DISC, Theme.QUIET, true);
    }

    /**
     * A series as a line with its marker.
     *
     * @param text its name as it is printed
     */
    public static Item line(String text, String series, double sample, Palette.Style style) {
      Item line = line(text, style.paint(), sample, Theme.LINE, Dash.NONE, series);
      return line.marked(style, Theme.MARKER, sample / 2);
    }

    /** A series as a filled square with its marker beside it; {@code text} is what is printed. */
    public static Item square(String text, String series, double size, Palette.Style style) {
      Item box = box(text, size, size, style.paint());
      return new Item(text, Theme.INK, 2 * size, box.symbol(), series)
          .marked(style, 0.75 * Theme.MARKER, 1.55 * size);
    }

    private Item marked(Palette.Style style, double size, double right) {
      Symbol marked =
          (at, middle) -> {
            List<Node> nodes = new ArrayList<>(symbol.at(at, middle));
            nodes.addAll(style.marker().at(at + right, middle, size, style.paint()));
            return nodes;
          };
      return new Item(text, paint, sample, marked, series);
    }
  }

  /** Draws what stands before a text, with its left end and its middle height given. */
  public interface Symbol {
    List<Node> at(double left, double middle);
  }

  private static final double BEHIND_SAMPLE = 3;

  private final List<List<Item>> rows = new ArrayList<>();
  private final double size;
  private final double gap;
  private final double leading;

  Legend(List<Item> items, double width, double size, double gap) {
    this.size = size;
    this.gap = gap;
    this.leading = 1.45 * size;
    double used = 0;
    for (Item item : items) {
      double needed = width(item);
      if (rows.isEmpty() || used + gap + needed > width) {
        rows.add(new ArrayList<>());
        used = needed;
      } else {
        used += gap + needed;
      }
      rows.getLast().add(item);
    }
  }

  static Legend column(List<Item> items) {
    return new Legend(items, 0, Theme.TEXT, 9);
  }

  /** Room that a figure's legend needs beside its panels; 0 where it does not stand there. */
  public static double aside(FigureStyle style, List<Item> items) {
    return style.legend() == FigureStyle.Place.RIGHT ? column(items).width() + 6 : 0;
  }

  /** The class that all groups of one series have, its legend entry too. */
  public static String role(String series) {
    return "series-" + Identifier.of(series);
  }

  double width() {
    return rows.stream()
        .mapToDouble(row -> row.stream().mapToDouble(this::width).sum() + gap * (row.size() - 1))
        .max()
        .orElse(0);
  }

  double height() {
    return rows.size() * leading;
  }

  List<Node> at(double left, double top) {
    List<Node> nodes = new ArrayList<>();
    double middle = top + leading / 2;
    for (List<Item> row : rows) {
      double x = left;
      for (Item item : row) {
        List<Node> entry = new ArrayList<>(item.symbol().at(x, middle));
        double textLeft = x + item.sample() + (item.sample() > 0 ? BEHIND_SAMPLE : 0);
        double baseline = middle + Typeface.capHeight(size) / 2;
        entry.add(
            new Node.Label(item.text(), textLeft, baseline, size, Anchor.START, item.paint()));
        if (item.series().isEmpty()) {
          nodes.addAll(entry);
        } else {
          nodes.add(
              new Node.Group(
                  "legend-" + Identifier.of(item.series()), "entry " + role(item.series()), entry));
        }
        x += width(item) + gap;
      }
      middle += leading;
    }
    return nodes;
  }

  private double width(Item item) {
    double text = Typeface.room(item.text(), size);
    return item.sample() > 0 ? item.sample() + BEHIND_SAMPLE + text : text;
  }
}
