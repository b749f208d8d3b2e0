package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;

/** What a figure shows, ready to be drawn or handed to LaTeX; the same bytes every time. */
interface Chart {
  /** Of its files, without an ending. */
  String name();

  /** Where what it shows comes from. */
  Provenance provenance();

  /** What it shows, in a few words. */
  default String caption() {
    return provenance().title();
  }

  /** How many panels it has side by side. */
  List<?> panels();

  /** Draws it {@code width} points wide. */
  Drawing draw(double width);

  /** The figure once for each panel, for one column of a paper each. */
  List<? extends Chart> panelByPanel();

  /** The figure for pgfplots: file names with texts, a {@code .tex} and what it reads. */
  SequencedMap<String, String> pgfplots();

  /** What there is of it beside drawings, for other programs: file names with texts. */
  default SequencedMap<String, String> beside() {
    return new TreeMap<>();
  }

  /** Drawn for one column where it is one panel, else for two. */
  default Drawing draw() {
    return draw(width(this));
  }

  /** One column where it is one panel, else two, in points. */
  static double width(Chart chart) {
    return chart.panels().size() == 1 ? Theme.ONE_COLUMN : Theme.TWO_COLUMNS;
  }
}
