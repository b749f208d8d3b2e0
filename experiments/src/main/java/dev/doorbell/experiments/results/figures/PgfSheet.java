package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.function.Predicate;

/**
 * A {@link Sheet} for pgfplots: panels of the same sizes, ranges and ticks as in the drawing, the
 * legend above and the strip below. All lengths are in the points of PDF, {@code bp}.
 */
final class PgfSheet {

  /** What a sample of a legend and the space behind it take. */
  private static final double SAMPLE = 34;

  /**
   * An entry of the legend.
   *
   * @param image options of its sample
   */
  record Key(String image, String text) {}

  /**
   * One panel.
   *
   * @param headroom that {@code over} needs above the frame
   * @param body what lies in the axis
   * @param over what is drawn on top, in points from the panel's lower left corner
   */
  record Panel(String title, double headroom, String body, String over) {}

  private final Sheet sheet;
  private final StringBuilder tex = new StringBuilder();
  private final double foot;
  private final String strip;

  /**
   * @param definitions of colours and styles
   */
  PgfSheet(
      Sheet sheet,
      Provenance provenance,
      String basisNote,
      String samplesNote,
      String definitions,
      List<Key> legend,
      List<Panel> panels) {
    this.sheet = sheet;
    tex.append("% ").append(provenance.title()).append("; ").append(basisNote).append("; ");
    tex.append(samplesNote).append("; run ").append(provenance.run()).append(", config ");
    tex.append(provenance.config()).append("\n% needs \\usepackage{pgfplots}");
    tex.append(" \\pgfplotsset{compat=1.18}; ").append(Math.round(sheet.width()));
    tex.append(" bp wide\n\\begin{tikzpicture}[x=1bp, y=1bp, font=").append(Pgf.font(Theme.TEXT));
    tex.append("]\n").append(definitions);
    style();
    double headroom = panels.stream().mapToDouble(Panel::headroom).max().orElse(0);
    boolean titled = panels.size() > 1 || !panels.getFirst().title().isEmpty();
    double above = headroom + (titled ? Theme.TEXT + 5 : 2);
    double labels = Sheet.TICK + (sheet.staggered() ? 2 : 1) * (Theme.SMALL + 2) + 2;
    double row = above + sheet.panelHeight() + labels + Theme.TEXT + 8;
    for (int i = 0; i < panels.size(); i++) {
      int column = i % sheet.columns();
      double up = -row * Math.floorDiv(i, sheet.columns());
      double left = column * (sheet.panelWidth() + Sheet.PANEL_GAP);
      panel(panels.get(i), left, up, i == 0 ? legend : List.of(), above);
      if (column == 0) {
        int inRow = Math.min(sheet.columns(), panels.size() - i);
        titles(inRow, up, labels);
      }
    }
    int rows = Math.ceilDiv(panels.size(), sheet.columns());
    this.foot = -row * (rows - 1) - labels - Theme.TEXT - 5;
    String config = provenance.config();
    StringJoiner strip = new StringJoiner(" \\quad ");
    strip.add(Pgf.escaped(basisNote)).add(Pgf.escaped(samplesNote));
    strip.add(Pgf.escaped("run " + provenance.run()));
    strip.add(Pgf.escaped("config " + config.substring(0, Math.min(8, config.length()))));
    this.strip = strip.toString();
  }

  private void style() {
    Pgf.colour(tex, "doorbell-frame", Theme.FRAME);
    Pgf.colour(tex, "doorbell-rule", Theme.RULE);
    Pgf.colour(tex, "doorbell-quiet", Theme.QUIET);
    tex.append("\\pgfplotsset{doorbell/.style={scale only axis, width=")
        .append(bp(sheet.panelWidth()));
    tex.append(", height=").append(bp(sheet.panelHeight())).append(",\n  axis lines*=left, ");
    tex.append("axis line style={doorbell-frame, line width=.5bp}, tick align=outside,\n");
    tex.append("  every tick/.style={doorbell-frame, line width=.5bp}, major tick length=");
    tex.append(bp(Sheet.TICK)).append(", minor tick length=").append(bp(Sheet.TICK / 2));
    tex.append(",\n  grid=major, major grid style={doorbell-rule, line width=.5bp},\n");
    tex.append("  tick label style={font=").append(Pgf.font(Theme.SMALL));
    tex.append(", inner sep=1bp}, scaled ticks=false, unbounded coords=jump,\n");
    axis("x", sheet.x());
    axis("y", sheet.y());
    tex.append("  xticklabel style={align=center}}}\n");
  }

  private void axis(String name, PlotAxis axis) {
    tex.append("  ").append(name).append("min=").append(Units.plain(axis.scale().low()));
    tex.append(", ").append(name).append("max=").append(Units.plain(axis.scale().high()));
    tex.append(", ")
        .append(name)
        .append("tick={")
        .append(at(axis, tick -> !tick.label().isEmpty()));
    String minor = at(axis, tick -> tick.label().isEmpty());
    tex.append("}").append(minor.isEmpty() ? "" : ", minor " + name + "tick={" + minor + "}");
    boolean ruled = axis.ticks().stream().anyMatch(Tick::major);
    tex.append(ruled ? "" : ", " + name + "majorgrids=false").append(",\n");
  }

  /** In the axis itself: pgfplots chooses by it before it looks at styles. */
  private static String mode(String name, PlotAxis axis) {
    return axis.scale() instanceof Scale.Log ? name + "mode=log, " : "";
  }

  private static String at(PlotAxis axis, Predicate<Tick> wanted) {
    StringJoiner values = new StringJoiner(",");
    axis.ticks().stream().filter(wanted).forEach(tick -> values.add(Units.plain(tick.value())));
    return values.toString();
  }

  private static String labels(PlotAxis axis) {
    StringJoiner labels = new StringJoiner(",");
    axis.ticks().stream()
        .filter(tick -> !tick.label().isEmpty())
        .forEach(tick -> labels.add("{" + Pgf.escaped(tick.label()) + "}"));
    return labels.toString();
  }

  /** Labels below a panel; those at its ends keep out of the next one. */
  private String below(double left) {
    StringJoiner labels = new StringJoiner(",");
    double room = Sheet.PANEL_GAP / 2 - 1.5;
    boolean lower = false;
    for (Tick tick : sheet.x().ticks()) {
      if (!tick.label().isEmpty()) {
        double half = Typeface.width(tick.label(), Theme.SMALL) / 2;
        double at = sheet.x().scale().at(tick.value()) * sheet.panelWidth();
        double centre = Math.min(at, sheet.panelWidth() + room - half);
        double shift = (left > 0 ? Math.max(centre, half - room) : centre) - at;
        String text = Pgf.escaped(tick.label());
        String kern = "\\kern" + bp(2 * Math.abs(shift));
        String beside = shift > 0 ? kern + text : text + kern;
        String moved = Math.abs(shift) < 0.01 ? text : "\\makebox[0pt]{" + beside + "}";
        labels.add("{\\strut" + (lower ? "\\\\\\strut " : " ") + moved + "}");
        lower = sheet.staggered() && !lower;
      }
    }
    return labels.toString();
  }

  private void panel(Panel panel, double left, double bottom, List<Key> legend, double above) {
    String mode = mode("x", sheet.x()) + mode("y", sheet.y());
    tex.append("\\begin{axis}[")
        .append(mode)
        .append("doorbell, at={(")
        .append(bp(left))
        .append(',')
        .append(bp(bottom));
    tex.append(")}, xticklabels={").append(below(left)).append("},\n  yticklabels={");
    tex.append(left > 0 ? "" : labels(sheet.y())).append('}');
    if (!legend.isEmpty()) {
      double widest =
          legend.stream().mapToDouble(k -> Typeface.width(k.text(), Theme.TEXT)).max().orElse(0);
      int columns = (int) Math.max(1, (sheet.width() - 2 * Sheet.EDGE) / (widest + SAMPLE));
      tex.append(",\n  legend columns=").append(Math.min(columns, legend.size()));
      tex.append(", legend cell align=left, legend style={at={(0,1)}, anchor=south west,");
      tex.append(" xshift=").append(bp(Sheet.EDGE - sheet.left()));
      tex.append(", yshift=").append(bp(above));
      tex.append(", draw=none, fill=none, inner sep=0pt,\n    font=").append(Pgf.font(Theme.TEXT));
      tex.append(", /tikz/every even column/.append style={column sep=6bp}}");
    }
    tex.append("]\n").append(panel.body());
    for (Key key : legend) {
      tex.append("\\addlegendimage{").append(key.image()).append("}\n\\addlegendentry{");
      tex.append(Pgf.escaped(key.text())).append("}\n");
    }
    tex.append("\\end{axis}\n");
    if (!panel.title().isEmpty()) {
      double up = bottom + sheet.panelHeight() + above - Theme.TEXT - 1;
      tex.append("\\node[anchor=base west, inner sep=0pt] at ").append(point(left, up));
      tex.append(" {").append(Pgf.escaped(panel.title())).append("};\n");
    }
    if (!panel.over().isEmpty()) {
      tex.append("\\begin{scope}[shift={").append(point(left, bottom)).append("}]\n");
      tex.append(panel.over()).append("\\end{scope}\n");
    }
  }

  /** The titles of both axes, once a row. */
  private void titles(int panels, double bottom, double labels) {
    double middle = (panels * (sheet.panelWidth() + Sheet.PANEL_GAP) - Sheet.PANEL_GAP) / 2;
    tex.append("\\node[anchor=base, inner sep=0pt] at ");
    tex.append(point(middle, bottom - labels - Theme.TEXT + 1)).append(" {");
    tex.append(Pgf.escaped(sheet.x().title())).append("};\n");
    if (!sheet.y().title().isEmpty()) {
      tex.append("\\node[rotate=90, anchor=north, inner sep=0pt] at ");
      tex.append(point(Sheet.EDGE - sheet.left(), bottom + sheet.panelHeight() / 2));
      tex.append(" {").append(Pgf.escaped(sheet.y().title())).append("};\n");
    }
  }

  /** Lines over the width of the sheet, the basis in the last: it cannot be lost on the way. */
  private String note(String text) {
    StringBuilder note = new StringBuilder("\\node[anchor=north west, inner sep=0pt, align=left, ");
    note.append("text width=").append(bp(sheet.width() - 2 * Sheet.EDGE)).append("] at ");
    note.append(point(Sheet.EDGE - sheet.left(), foot)).append("\n  {").append(text);
    note.append("{").append(Pgf.font(Theme.NOTE)).append("\\color{doorbell-quiet}");
    return note.append(strip).append("\\par}};\n").toString();
  }

  String text() {
    return tex + note("") + "\\end{tikzpicture}\n";
  }

  /** With an explanation between the panels and the strip. */
  String text(String explanation) {
    return tex + note(explanation + "\\par\\vskip2bp\n  ") + "\\end{tikzpicture}\n";
  }

  /** A length. */
  static String bp(double points) {
    return String.format(Locale.ROOT, "%.2fbp", points);
  }

  /** A place in points. */
  static String point(double x, double y) {
    return String.format(Locale.ROOT, "(%.2f,%.2f)", x, y);
  }
}
