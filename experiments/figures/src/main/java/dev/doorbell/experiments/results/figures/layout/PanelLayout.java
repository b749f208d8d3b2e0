package dev.doorbell.experiments.results.figures.layout;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Place;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Turn;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import dev.doorbell.experiments.results.print.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;

/**
 * The common parts of all charts: a legend, panels that share both axes, and a strip that says what
 * the numbers are. The contents of a panel are the chart's.
 */
public final class PanelLayout {

  private static final double EDGE = 3;
  private static final double TICK = 2.5;
  private static final double PANEL_GAP = 11;
  private static final double LABEL_GAP = 3;

  /** From one line of a panel's title to the next one. */
  private static final double TITLE_LINE = Theme.TEXT + 1.5;

  private static final double TITLE = 8.5;

  public interface Contents {
    /** Below the rules. */
    default void below(PlotArea frame, List<Node> out) {}

    /** Above the scales. */
    void above(PlotArea frame, List<Node> out);
  }

  /**
   * One panel.
   *
   * @param headroom points that the contents need above the frame
   */
  public record Panel(String title, double headroom, Contents contents) {}

  private final double width;
  private final double aside;
  private final int columns;
  private final double left;
  private final double panelWidth;
  private final double panelHeight;
  private final PlotAxis x;
  private final PlotAxis y;
  private final List<String> yTitle;
  private final boolean staggered;
  private final List<Node> nodes = new ArrayList<>();
  private PlotArea firstFrame;

  /**
   * Measures the page.
   *
   * @param aside width that is kept free on the right of the panels, points
   * @param panels number of panels
   * @param x the horizontal axis for a panel of a width
   * @param height of a panel of a width
   */
  public PanelLayout(
      double width,
      double aside,
      int panels,
      DoubleFunction<PlotAxis> x,
      PlotAxis y,
      DoubleUnaryOperator height) {
    this.width = width;
    this.aside = aside;
    this.columns = panels == 4 ? 2 : Math.min(panels, 3);
    this.y = y;
    double widest =
        y.ticks().stream().mapToDouble(t -> Typeface.room(t.label(), Theme.SMALL)).max().orElse(0);
    double free = width - aside - 2 * EDGE - 4 - widest - 1 - TICK - (columns - 1) * PANEL_GAP;
    double wanted = height.applyAsDouble((free - TITLE_LINE) / columns);
    this.yTitle = y.title().isEmpty() ? List.of() : broken(y.title(), wanted);
    double title = yTitle.isEmpty() ? 0 : yTitle.size() * TITLE_LINE + 1.5;
    this.left = EDGE + title + widest + 1 + TICK;
    this.panelWidth = (free - title) / columns;
    this.panelHeight = height.applyAsDouble(panelWidth);
    this.x = x.apply(panelWidth);
    this.staggered = collides(this.x, panelWidth);
    this.firstFrame = new PlotArea(left, 0, left + panelWidth, panelHeight, this.x, y);
  }

  /** Width of a panel, points. */
  public double panelWidth() {
    return panelWidth;
  }

  /** A panel by itself, at the corner of the page. */
  public PlotArea area() {
    return new PlotArea(0, 0, panelWidth, panelHeight, x, y);
  }

  public PlotAxis x() {
    return x;
  }

  /** Place of a label that keeps out of the next panel, from the left edge of its own. */
  private static double held(double at, double half, double width) {
    double room = PANEL_GAP / 2 - 1.5;
    return Math.max(Math.min(at, width + room - half), half - room);
  }

  /** Returns true if neighbouring labels would touch, so that every other one goes a row lower. */
  private static boolean collides(PlotAxis axis, double width) {
    double end = Double.NEGATIVE_INFINITY;
    for (Tick tick : axis.ticks()) {
      if (!tick.label().isEmpty()) {
        double half = Typeface.room(tick.label(), Theme.SMALL) / 2;
        double at = held(axis.scale().at(tick.value()) * width, half, width);
        if (at - half < end + LABEL_GAP) {
          return true;
        }
        end = at + half;
      }
    }
    return false;
  }

  /** Draws the page; its height follows from what it holds. */
  public Drawing draw(FigureNotes notes, List<Panel> panels, List<Legend.Item> entries) {
    FigureStyle style = notes.style();
    double top = EDGE;
    if (!style.title().isEmpty()) {
      top += TITLE;
      nodes.add(label(style.title(), width / 2, top - 1, TITLE, Anchor.MIDDLE));
      top += 3;
    }
    boolean above = style.legend() == Place.TOP;
    top = (above ? legend(entries, top) : top) + 2;
    double firstTop = top;
    double headroom = panels.stream().mapToDouble(Panel::headroom).max().orElse(0);
    for (int row = 0; row * columns < panels.size(); row++) {
      int last = Math.min((row + 1) * columns, panels.size());
      top = row(style, panels, row * columns, last, headroom, top);
    }
    switch (style.legend()) {
      case TOP, NONE -> {}
      case BOTTOM -> top = legend(entries, top + 1);
      case RIGHT -> {
        Legend column = Legend.column(entries);
        double middle = firstTop + (top - firstTop - column.height()) / 2;
        nodes.add(new Node.Group("legend", column.at(width - aside, Math.max(firstTop, middle))));
      }
      case TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT ->
          nodes.add(corner(Legend.column(entries), style.legend(), firstFrame));
    }
    double bottom = top + 2;
    if (style.footer()) {
      Legend strip = new Legend(strip(notes), width - 2 * EDGE, Theme.NOTE, 8);
      nodes.add(new Node.Group("strip", strip.at(EDGE, bottom)));
      bottom += strip.height();
    }
    return new Drawing(width, Math.ceil(bottom + 1), notes.provenance(), nodes);
  }

  /** Draws entries in rows, indented where that takes no more of them, and returns their end. */
  private double legend(List<Legend.Item> entries, double top) {
    Legend narrow = new Legend(entries, width - left - EDGE, Theme.TEXT, 9);
    Legend wide = new Legend(entries, width - 2 * EDGE, Theme.TEXT, 9);
    boolean indented = narrow.height() <= wide.height();
    Legend legend = indented ? narrow : wide;
    nodes.add(new Node.Group("legend", legend.at(indented ? left : EDGE, top)));
    return top + legend.height();
  }

  /** Draws entries one below the other on white in a corner of a panel. */
  private static Node corner(Legend legend, Place place, PlotArea frame) {
    double margin = 3;
    boolean left = place == Place.TOP_LEFT || place == Place.BOTTOM_LEFT;
    boolean top = place == Place.TOP_LEFT || place == Place.TOP_RIGHT;
    double x = left ? frame.left() + margin : frame.right() - margin - legend.width();
    double y = top ? frame.top() + margin : frame.bottom() - margin - legend.height();
    List<Node> inside = new ArrayList<>();
    inside.add(
        new Node.Fill(
            Outline.rectangle(x - 1.5, y - 1, legend.width() + 3, legend.height() + 2),
            Paint.WHITE));
    inside.addAll(legend.at(x, y));
    return new Node.Group("legend", inside);
  }

  /** Draws one row of panels and returns where it ends. */
  private double row(
      FigureStyle style, List<Panel> panels, int first, int last, double headroom, double top) {
    boolean titled = panels.size() > 1 || !style.title(panels.getFirst().title()).isEmpty();
    List<List<String>> titles = new ArrayList<>();
    int lines = 1;
    for (int i = first; i < last; i++) {
      double room = panelWidth + (i < last - 1 ? PANEL_GAP - LABEL_GAP : EDGE);
      titles.add(broken(style.title(panels.get(i).title()), room));
      lines = Math.max(lines, titles.getLast().size());
    }
    double further = (lines - 1) * TITLE_LINE;
    double frameTop = top + (titled ? Theme.TEXT + 4 + further : 2) + headroom;
    double frameBottom = frameTop + panelHeight;
    for (int i = first; i < last; i++) {
      Panel panel = panels.get(i);
      double frameLeft = left + (i - first) * (panelWidth + PANEL_GAP);
      List<Node> out = new ArrayList<>();
      PlotArea frame = new PlotArea(frameLeft, frameTop, frameLeft + panelWidth, frameBottom, x, y);
      if (i == 0) {
        firstFrame = frame;
      }
      if (!style.title(panel.title()).isEmpty()) {
        double base = top + Theme.TEXT;
        for (String line : titles.get(i - first)) {
          out.add(label(line, frameLeft, base, Theme.TEXT, Anchor.START));
          base += TITLE_LINE;
        }
      }
      panel.contents().below(frame, out);
      rules(frame, out);
      scales(frame, i == first, out);
      panel.contents().above(frame, out);
      String name = panel.title().isEmpty() ? "only" : panel.title();
      nodes.add(new Node.Group("panel-" + Identifier.of(name), out));
    }
    for (int i = 0; i < yTitle.size(); i++) {
      nodes.add(
          new Node.Label(
              yTitle.get(i),
              EDGE + Theme.TEXT - 1.5 + i * TITLE_LINE,
              frameTop + panelHeight / 2,
              Theme.TEXT,
              Anchor.MIDDLE,
              Turn.UPWARDS,
              Theme.INK));
    }
    double tickRows = staggered ? 2 * Theme.SMALL + 1 : Theme.SMALL;
    double titleBase = frameBottom + TICK + 1.5 + tickRows + 3 + Theme.TEXT;
    double centre = left + ((last - first) * (panelWidth + PANEL_GAP) - PANEL_GAP) / 2;
    nodes.add(label(x.title(), centre, titleBase, Theme.TEXT, Anchor.MIDDLE));
    return titleBase + 4;
  }

  /** A title in lines that fit, broken behind a comma where there is one, else between words. */
  private static List<String> broken(String title, double room) {
    List<String> lines = new ArrayList<>();
    String rest = title;
    while (Typeface.room(rest, Theme.TEXT) > room) {
      int at = lastFitting(rest, ", ", room);
      at = at > 0 ? at + 1 : lastFitting(rest, " ", room);
      if (at <= 0) {
        break;
      }
      lines.add(rest.substring(0, at));
      rest = rest.substring(at).strip();
    }
    lines.add(rest);
    return lines;
  }

  /** Index of the last separator before which a text fits; -1 where there is none. */
  private static int lastFitting(String text, String separator, double room) {
    int at = text.lastIndexOf(separator);
    while (at > 0 && Typeface.room(text.substring(0, at), Theme.TEXT) > room) {
      at = text.lastIndexOf(separator, at - 1);
    }
    return at;
  }

  private void rules(PlotArea frame, List<Node> out) {
    for (Tick tick : x.ticks()) {
      if (tick.major()) {
        double at = frame.x(tick.value());
        out.add(rule(at, frame.top(), at, frame.bottom()));
      }
    }
    for (Tick tick : y.ticks()) {
      if (tick.major()) {
        double at = frame.y(tick.value());
        out.add(rule(frame.left(), at, frame.right(), at));
      }
    }
  }

  private static Node rule(double x0, double y0, double x1, double y1) {
    return Node.Stroke.line(x0, y0, x1, y1, Theme.RULE, Theme.HAIR);
  }

  private void scales(PlotArea frame, boolean labelled, List<Node> out) {
    out.add(
        new Node.Stroke(
            Outline.line(
                frame.left(),
                frame.top(),
                frame.left(),
                frame.bottom(),
                frame.right(),
                frame.bottom()),
            Theme.FRAME,
            Theme.HAIR,
            Dash.NONE));
    boolean lower = false;
    for (Tick tick : x.ticks()) {
      double at = frame.x(tick.value());
      double length = tick.major() ? TICK : TICK / 2;
      out.add(tick(at, frame.bottom(), at, frame.bottom() + length));
      if (!tick.label().isEmpty()) {
        double row = staggered && lower ? Theme.SMALL + 1 : 0;
        double base = frame.bottom() + TICK + 1.5 + Theme.SMALL - 1 + row;
        out.add(inside(tick.label(), at, base, frame));
        lower = !lower;
      }
    }
    for (Tick tick : y.ticks()) {
      double at = frame.y(tick.value());
      double length = tick.major() ? TICK : TICK / 2;
      out.add(tick(frame.left() - length, at, frame.left(), at));
      if (labelled && !tick.label().isEmpty()) {
        double base = at + Typeface.capHeight(Theme.SMALL) / 2;
        out.add(label(tick.label(), frame.left() - TICK - 1.5, base, Theme.SMALL, Anchor.END));
      }
    }
  }

  /** Labels at the ends of a panel keep out of the next one. */
  private Node inside(String text, double at, double base, PlotArea frame) {
    double half = Typeface.room(text, Theme.SMALL) / 2;
    double room = PANEL_GAP / 2 - 1.5;
    double centre = Math.min(at, frame.right() + room - half);
    if (frame.left() > left) {
      centre = Math.max(centre, frame.left() - room + half);
    }
    return label(text, centre, base, Theme.SMALL, Anchor.MIDDLE);
  }

  private static Node tick(double x0, double y0, double x1, double y1) {
    return Node.Stroke.line(x0, y0, x1, y1, Theme.FRAME, Theme.HAIR);
  }

  private List<Legend.Item> strip(FigureNotes notes) {
    List<Legend.Item> items = new ArrayList<>();
    items.add(Legend.Item.text(notes.basis(), Theme.INK));
    boolean fits = Typeface.room(notes.samples(), Theme.NOTE) <= width - 2 * EDGE;
    (fits ? Stream.of(notes.samples()) : Stream.of(notes.samples().split("; ")))
        .forEach(part -> items.add(Legend.Item.text(part, Theme.QUIET)));
    Stream.of(notes.provenance().run().split("[+]", -1))
        .forEach(run -> items.add(Legend.Item.text("run " + run, Theme.QUIET)));
    Stream.of(notes.provenance().config().split("[+]", -1))
        .forEach(
            hash -> items.add(Legend.Item.text("config " + Names.shortened(hash), Theme.QUIET)));
    return items;
  }

  private static Node label(String text, double x, double y, double size, Anchor anchor) {
    return new Node.Label(text, x, y, size, anchor, Theme.INK);
  }
}
