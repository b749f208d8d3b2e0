package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.chart.Figure;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/** Figures of any kind, as files. The bytes depend on what is shown alone. */
public final class Plots {

  private final List<Figure> figures;

  Plots(List<Figure> figures) {
    this.figures = List.copyOf(figures);
  }

  /** The files of whole figures, and of each panel where a figure has several. */
  public SequencedMap<String, byte[]> files(Set<PlotFormat> formats) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    all().parallelStream().map(figure -> files(figure, formats)).forEachOrdered(files::putAll);
    return Collections.unmodifiableSequencedMap(files);
  }

  private static SequencedMap<String, byte[]> files(Figure figure, Set<PlotFormat> formats) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    Drawing drawing = figure.draw();
    String name = figure.notes().file();
    if (formats.contains(PlotFormat.SVG)) {
      files.put(name + ".svg", drawing.svg());
    }
    if (formats.contains(PlotFormat.PDF) || formats.contains(PlotFormat.PNG)) {
      byte[] pdf = drawing.pdf();
      if (formats.contains(PlotFormat.PDF)) {
        files.put(name + ".pdf", pdf);
      }
      if (formats.contains(PlotFormat.PNG)) {
        files.put(name + ".png", drawing.png(pdf));
      }
    }
    return files;
  }

  public boolean isEmpty() {
    return figures.isEmpty();
  }

  SequencedMap<String, Drawing> drawings() {
    SequencedMap<String, Drawing> drawings = new LinkedHashMap<>();
    all().forEach(figure -> drawings.put(figure.notes().file(), figure.draw()));
    return drawings;
  }

  private List<Figure> all() {
    List<Figure> all = new ArrayList<>();
    for (Figure figure : figures) {
      all.add(figure);
      List<Figure> panels = figure.panelByPanel();
      if (panels.size() > 1) {
        all.addAll(panels);
      }
    }
    return all;
  }

  /** Formats of a figure's files. */
  public enum PlotFormat {
    SVG,
    /** With embedded fonts. */
    PDF,
    PNG;

    /**
     * The formats that are written where nothing else is asked for: pixels take longer to draw than
     * all else.
     */
    public static Set<PlotFormat> standard() {
      return EnumSet.of(SVG, PDF);
    }
  }
}
