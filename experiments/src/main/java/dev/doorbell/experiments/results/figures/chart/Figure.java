package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** What a figure shows, ready to be drawn. */
public interface Figure {

  /** Its name, origin and the notes below it. */
  FigureNotes notes();

  /** What it shows, in a few words. */
  default String caption() {
    return notes().provenance().title();
  }

  /** The figure once for each panel, for one column of a paper each. */
  default List<Figure> panelByPanel() {
    return List.of(this);
  }

  /** Draws it {@code width} points wide. */
  Drawing draw(double width);

  /** Draws it one column wide if it has one panel, else two. */
  default Drawing draw() {
    return draw(panelByPanel().size() == 1 ? Theme.ONE_COLUMN : Theme.TWO_COLUMNS);
  }

  /** Further files for other programs: names with texts. */
  default SequencedMap<String, String> companions() {
    return new LinkedHashMap<>();
  }
}
