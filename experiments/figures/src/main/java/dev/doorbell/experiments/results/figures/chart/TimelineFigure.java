package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** One message from its first store to its CQE: a lane for each place, time to the right. */
public record TimelineFigure(FigureNotes notes, Timeline timeline) implements Figure {

  /** Places in the order in which a message meets them. */
  List<String> lanes() {
    List<String> order =
        List.of("rank0.gpu0", "rank0.cpu0", "rank0.nic0", "rank1.nic0", "rank1.cpu0", "rank1.gpu0");
    List<String> present =
        timeline.steps().stream()
            .flatMap(step -> Stream.of(step.place(), step.target()))
            .distinct()
            .sorted()
            .toList();
    return Stream.concat(
            order.stream().filter(present::contains),
            present.stream().filter(place -> !order.contains(place)))
        .toList();
  }

  @Override
  public Drawing draw(double width) {
    return new Chart().drawing(width);
  }

  /**
   * Lays out the figure: what stays at a place is a numbered mark or span on its lane, explained in
   * the legend; what travels is a slanted line between two.
   */
  private final class Chart {

    private static final double ROW = 30;
    private static final double DISC = 3.4;
    private static final Paint FENCE = new Paint(0xE69F00);
    private static final Paint SPAN = new Paint(0xB9C2CC);

    private final List<String> lanes;
    private final List<Step> marks;

    Chart() {
      this.lanes = lanes();
      this.marks = timeline().steps().stream().filter(step -> !step.kind().travels()).toList();
    }

    Drawing drawing(double width) {
      long end = marks.stream().mapToLong(Step::until).max().orElse(1);
      PanelLayout layout =
          new PanelLayout(
              width,
              0,
              1,
              panel ->
                  AxisBuilder.linear("virtual time", "ns", 0, (double) end, (int) (panel / 34)),
              AxisBuilder.rows("", lanes),
              _ -> ROW * lanes.size());
      return layout.draw(
          notes(), List.of(new PanelLayout.Panel(timeline().title(), 0, contents())), legend());
    }

    private PanelLayout.Contents contents() {
      return new PanelLayout.Contents() {
        @Override
        public void below(PlotArea area, List<Node> out) {
          for (int lane = 0; lane < lanes.size(); lane++) {
            double y = area.y(lanes.size() - lane - 0.5);
            out.add(Stroke.line(area.left(), y, area.right(), y, Theme.RULE, 1));
          }
        }

        @Override
        public void above(PlotArea area, List<Node> out) {
          travels(area, out);
          spans(area, out);
          numbers(area, out);
        }
      };
    }

    private static double x(PlotArea area, long nanos) {
      return area.x((double) nanos);
    }

    private double y(PlotArea area, String place) {
      return area.y(height(place));
    }

    private double height(String lane) {
      return lanes.size() - lanes.indexOf(lane) - 0.5;
    }

    private void travels(PlotArea area, List<Node> out) {
      for (Kind kind : travelling()) {
        List<Node> lines = new ArrayList<>();
        for (Step step : timeline().steps()) {
          if (step.kind() == kind && x(area, step.until()) <= area.right() + 0.5) {
            lines.add(
                new Node.Stroke(
                    Outline.line(
                        x(area, step.from()),
                        y(area, step.place()),
                        x(area, step.until()),
                        y(area, step.target())),
                    paint(kind),
                    width(kind),
                    dash(kind)));
          }
        }
        out.add(new Node.Group(Identifier.of(kind.words()), Legend.role(kind.words()), lines));
      }
    }

    private void spans(PlotArea area, List<Node> out) {
      for (Step step : marks) {
        double from = x(area, step.from());
        double to = x(area, step.until());
        if (to - from > 0.5) {
          double y = y(area, step.place());
          out.add(
              new Node.Fill(
                  Outline.rectangle(from, y - 2, to - from, 4),
                  step.kind() == Kind.FENCE ? FENCE : SPAN));
        }
      }
    }

    /** Discs on their lane, pushed apart where they would touch, with a leader to their time. */
    private void numbers(PlotArea area, List<Node> out) {
      for (String lane : lanes) {
        double free = area.left();
        double y = y(area, lane);
        for (int i = 0; i < marks.size(); i++) {
          Step step = marks.get(i);
          if (!step.place().equals(lane)) {
            continue;
          }
          double at = (x(area, step.from()) + x(area, step.until())) / 2;
          double centre = Math.max(at, free + DISC);
          double above = y - 8;
          out.add(Stroke.line(at, y, centre, above + DISC, Theme.BAND_CENTRE, 0.4));
          out.addAll(number(i + 1, centre, above));
          free = centre + DISC + 0.8;
        }
      }
    }

    private static List<Node> number(int number, double x, double y) {
      String text = Integer.toString(number);
      double size = 5;
      return List.of(
          new Node.Fill(Outline.circle(x, y, DISC), Theme.INK),
          new Node.Label(
              text, x, y + Typeface.capHeight(size) / 2, size, Anchor.MIDDLE, Paint.WHITE));
    }

    private Set<Kind> travelling() {
      Set<Kind> kinds = EnumSet.noneOf(Kind.class);
      timeline().steps().stream().map(Step::kind).filter(Kind::travels).forEach(kinds::add);
      return kinds;
    }

    private List<Legend.Item> legend() {
      List<Legend.Item> items = new ArrayList<>();
      for (int i = 0; i < marks.size(); i++) {
        Step step = marks.get(i);
        int number = i + 1;
        items.add(
            new Legend.Item(
                "%s, %s".formatted(step.kind().words(), Units.time((double) step.until())),
                Theme.INK,
                2 * DISC,
                (at, middle) -> number(number, at + DISC, middle),
                ""));
      }
      for (Kind kind : travelling()) {
        items.add(Legend.Item.line(kind.words(), paint(kind), 12, 1, dash(kind), kind.words()));
      }
      return items;
    }

    private static Paint paint(Kind kind) {
      return switch (kind) {
        case WRITE_TLP -> new Paint(0xD55E00);
        case READ_TLP -> new Paint(0x0072B2);
        case COMPLETION_TLP -> new Paint(0x56B4E9);
        default -> Paint.BLACK;
      };
    }

    private static Dash dash(Kind kind) {
      return switch (kind) {
        case READ_TLP -> new Dash(2, 1.2);
        case COMPLETION_TLP -> new Dash(0.8, 0.8);
        default -> Dash.NONE;
      };
    }

    private static double width(Kind kind) {
      return kind == Kind.PACKET ? 1.2 : 0.7;
    }
  }
}
