package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.Palette.Style;
import dev.doorbell.experiments.results.figures.drawing.Ink;
import java.util.ArrayList;
import java.util.List;

/** What figures for pgfplots have in common: the colours and markers of the drawings, and CSVs. */
final class Pgf {

  private Pgf() {}

  /** A font of so many points, whatever the document's size is. */
  static String font(double size) {
    String text = Units.digits(size, 3);
    return "\\sffamily\\fontsize{%s}{%s}\\selectfont".formatted(text, Units.digits(1.25 * size, 3));
  }

  static void colour(StringBuilder tex, String name, Ink ink) {
    tex.append("\\definecolor{").append(name).append("}{HTML}{");
    tex.append(
        Integer.toHexString(0x1000000 | ink.rgb()).substring(1).toUpperCase(java.util.Locale.ROOT));
    tex.append("}\n");
  }

  /** A colour and a style a series: its markers have its colour and tell it apart in grey print. */
  static String styles(Palette palette, List<String> series) {
    StringBuilder tex = new StringBuilder();
    for (String name : series) {
      Style style = palette.style(name);
      colour(tex, colourOf(name), style.ink());
      tex.append("\\tikzset{").append(styleOf(name)).append("/.style={").append(colourOf(name));
      tex.append(", line width=").append(Theme.LINE).append("bp, mark size=");
      tex.append(Theme.MARKER).append("bp, ").append(mark(style.marker(), colourOf(name)));
      tex.append("}}\n");
    }
    return tex.toString();
  }

  /** The sample of an area in a legend. */
  static String area(String colour) {
    return "only marks, mark=square*, mark size=2.6bp, mark options={fill=%s, draw=%s}"
        .formatted(colour, colour);
  }

  static String colourOf(String series) {
    return "doorbell-" + Sheet.identifier(series);
  }

  static String styleOf(String series) {
    return "doorbell-line-" + Sheet.identifier(series);
  }

  private static String mark(Marker marker, String colour) {
    String shape =
        switch (marker) {
          case DISC, RING -> "*";
          case SQUARE -> "square*";
          case TRIANGLE_UP, TRIANGLE_DOWN -> "triangle*";
          case DIAMOND -> "diamond*";
          case PLUS -> "+";
        };
    String fill =
        switch (marker) {
          case RING -> "fill=white, line width=.9bp";
          case PLUS -> "line width=1.5bp";
          case TRIANGLE_DOWN -> "fill=" + colour + ", line width=.4bp, rotate=180";
          default -> "fill=" + colour + ", line width=.4bp";
        };
    return "mark=%s, mark options={solid, draw=%s, %s}".formatted(shape, colour, fill);
  }

  static String escaped(String text) {
    return Table.latexEscaped(text);
  }

  /** A row of a CSV; names hold neither commas nor quotes, and where they do they are set off. */
  static void row(StringBuilder csv, Object... cells) {
    List<String> texts = new ArrayList<>();
    for (Object cell : cells) {
      String text =
          switch (cell) {
            case Double number -> Double.isNaN(number) ? "nan" : Units.plain(number);
            default -> cell.toString();
          };
      texts.add(
          text.contains(",") || text.contains("\"")
              ? '"' + text.replace("\"", "\"\"") + '"'
              : text);
    }
    csv.append(String.join(",", texts)).append('\n');
  }
}
