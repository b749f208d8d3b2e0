package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.figures.Palette.Style;
import dev.doorbell.experiments.figures.drawing.Ink;
import dev.doorbell.experiments.figures.drawing.Provenance;
import java.util.ArrayList;
import java.util.List;

/**
 * What figures for pgfplots have in common: the same colours and markers as in the drawings, the
 * provenance in a comment, and the basis where readers see it.
 */
final class Pgf {

  /** What LaTeX needs in its preamble. */
  private static final String NEEDS =
      "% needs \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \\pgfplotsset{compat=1.18}\n";

  private Pgf() {}

  static StringBuilder begin(Provenance from, String basisNote, String samplesNote) {
    StringBuilder tex = new StringBuilder();
    tex.append("% ").append(from.title()).append("; ").append(basisNote).append("; ");
    tex.append(samplesNote).append("; run ").append(from.run()).append(", config ");
    tex.append(from.config()).append('\n').append(NEEDS);
    return tex.append("\\begin{tikzpicture}\n");
  }

  static String end() {
    return "\\end{tikzpicture}\n";
  }

  static void colour(StringBuilder tex, String name, Ink ink) {
    tex.append("\\definecolor{").append(name).append("}{HTML}{");
    tex.append(
        Integer.toHexString(0x1000000 | ink.rgb()).substring(1).toUpperCase(java.util.Locale.ROOT));
    tex.append("}\n");
  }

  static void colours(StringBuilder tex, Palette palette, List<String> series) {
    series.forEach(name -> colour(tex, colourOf(name), palette.style(name).ink()));
  }

  static String colourOf(String series) {
    return "doorbell-" + Sheet.identifier(series);
  }

  static String mark(Style style) {
    return switch (style.marker()) {
      case DISC -> "mark=*";
      case SQUARE -> "mark=square*";
      case TRIANGLE_UP -> "mark=triangle*";
      case TRIANGLE_DOWN -> "mark=triangle*, mark options={rotate=180}";
      case DIAMOND -> "mark=diamond*";
      case PLUS -> "mark=+";
      case RING -> "mark=o";
    };
  }

  static String escaped(String text) {
    return Table.latexEscaped(text);
  }

  /** A title with the basis below it in small type: it cannot be lost on the way to a paper. */
  static String titled(String title, String basisNote) {
    return "{%s\\\\{\\tiny %s}}".formatted(escaped(title), escaped(basisNote));
  }

  static String withUnit(String title, String unit) {
    return unit.isEmpty() ? title : title + " (" + unit + ")";
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

  /** A list of names in braces, each safe. */
  static String list(List<String> names) {
    List<String> safe = new ArrayList<>();
    names.forEach(name -> safe.add("{" + escaped(name) + "}"));
    return String.join(",", safe);
  }
}
