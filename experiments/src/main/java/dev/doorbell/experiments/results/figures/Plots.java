package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/** Figures of any kind, as files. The bytes depend on what is shown alone. */
public final class Plots {

  private final List<Chart> charts;

  Plots(List<? extends Chart> charts) {
    this.charts = List.copyOf(charts);
  }

  /** The files: the whole figures, and where one has several panels, each of these too. */
  public SequencedMap<String, byte[]> files(Set<PlotFormat> formats) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    all().parallelStream().map(chart -> files(chart, formats)).forEachOrdered(files::putAll);
    return Collections.unmodifiableSequencedMap(files);
  }

  private static SequencedMap<String, byte[]> files(Chart chart, Set<PlotFormat> formats) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    Drawing drawing = chart.draw();
    String name = Sheet.identifier(chart.name());
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
    if (formats.contains(PlotFormat.PGFPLOTS)) {
      chart
          .pgfplots()
          .forEach((file, text) -> files.put(file, text.getBytes(StandardCharsets.UTF_8)));
    }
    return files;
  }

  /** What there is of them beside drawings: of a timeline, the same for Perfetto. */
  public SequencedMap<String, byte[]> beside() {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    for (Chart chart : charts) {
      chart
          .beside()
          .forEach((file, text) -> files.put(file, text.getBytes(StandardCharsets.UTF_8)));
    }
    return Collections.unmodifiableSequencedMap(files);
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return charts.isEmpty();
  }

  /**
   * A figure for a page.
   *
   * @param name as its files are called
   * @param caption what it shows, in a few words
   * @param svg the whole of it
   */
  public record Shown(String name, String caption, String svg) {}

  /** Each figure, whole, for pages that show it. */
  public List<Shown> whole() {
    return charts.stream()
        .map(
            chart ->
                new Shown(
                    Sheet.identifier(chart.name()),
                    chart.caption(),
                    new String(chart.draw().svg(), StandardCharsets.UTF_8)))
        .toList();
  }

  SequencedMap<String, Drawing> drawings() {
    SequencedMap<String, Drawing> drawings = new LinkedHashMap<>();
    all().forEach(chart -> drawings.put(Sheet.identifier(chart.name()), chart.draw()));
    return drawings;
  }

  private List<Chart> all() {
    List<Chart> all = new ArrayList<>();
    for (Chart chart : charts) {
      all.add(chart);
      if (chart.panels().size() > 1) {
        all.addAll(chart.panelByPanel());
      }
    }
    return all;
  }
}
