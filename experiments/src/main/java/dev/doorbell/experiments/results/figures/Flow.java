package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.drawing.Ink;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.List;

/** Items set one after the other in as many rows as the width asks for: legends and notes. */
final class Flow {

  /**
   * One item.
   *
   * @param text behind the sample
   * @param sample width kept before the text; 0 for none
   * @param symbol draws the sample with its left end and its middle height given
   * @param series that it is the legend of, as {@link #role} names it; empty where it is of none
   */
  record Item(String text, Ink ink, double sample, Symbol symbol, String series) {
    Item(String text, Ink ink, double sample, Symbol symbol) {
      this(text, ink, sample, symbol, "");
    }

    static Item text(String text, Ink ink) {
      return new Item(text, ink, 0, (left, middle) -> List.of());
    }
  }

  /** Draws what stands before a text. */
  interface Symbol {
    List<Node> at(double left, double middle);
  }

  private static final double BEHIND_SAMPLE = 3;

  private final List<List<Item>> rows = new ArrayList<>();
  private final double size;
  private final double gap;
  private final double leading;

  Flow(List<Item> items, double width, double size, double gap) {
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

  /** The class that all groups of one series have, its legend entry too. */
  static String role(String series) {
    return "series-" + Sheet.identifier(series);
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
        entry.add(new Node.Label(item.text(), textLeft, baseline, size, Anchor.START, item.ink()));
        if (item.series().isEmpty()) {
          nodes.addAll(entry);
        } else {
          nodes.add(
              new Node.Group(
                  "legend-" + Sheet.identifier(item.series()),
                  "entry " + role(item.series()),
                  entry));
        }
        x += width(item) + gap;
      }
      middle += leading;
    }
    return nodes;
  }

  private double width(Item item) {
    double text = Typeface.width(item.text(), size);
    return item.sample() > 0 ? item.sample() + BEHIND_SAMPLE + text : text;
  }
}
