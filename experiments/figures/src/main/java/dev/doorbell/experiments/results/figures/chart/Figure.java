package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import java.util.List;
import java.util.function.Function;

/** The contents of a figure, ready to be drawn. */
public interface Figure {

  FigureNotes notes();

  /** The figure once for each panel, for one column of a paper each. */
  default List<Figure> panelByPanel() {
    return List.of(this);
  }

  /** This figure if it has one panel, else a figure for each. */
  default <P> List<Figure> split(List<P> panels, Function<P, Figure> only) {
    return panels.size() == 1 ? List.of(this) : panels.stream().map(only).toList();
  }

  Drawing draw(double width);

  /**
   * Draws it as wide as its style says, else one column wide if it has one panel and two if it has
   * more, with text of the size of its style.
   */
  default Drawing draw() {
    FigureStyle style = notes().style();
    double usual = panelByPanel().size() == 1 ? Theme.ONE_COLUMN : Theme.TWO_COLUMNS;
    double scale = style.fontSize(Theme.TEXT) / Theme.TEXT;
    return draw(style.width(usual) / scale).scaled(scale);
  }
}
