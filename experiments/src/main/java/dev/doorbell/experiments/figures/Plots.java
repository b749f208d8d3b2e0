package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.config.FigureSpec;
import dev.doorbell.experiments.figures.drawing.Drawing;
import dev.doorbell.experiments.figures.drawing.Provenance;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.run.RunData;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Figures that somebody asks for, of any kind, as files. The bytes depend on what is shown alone.
 */
public final class Plots {

  private final List<Chart> charts;

  Plots(List<? extends Chart> charts) {
    this.charts = List.copyOf(charts);
  }

  /**
   * A figure of a run; with everything left open, the figures that its config asks for.
   *
   * @throws Unplottable when the run cannot give it
   */
  public static Plots of(RunData run, PlotSpec spec) throws Unplottable {
    if (run.rows().isEmpty()) {
      throw Unplottable.because(
          run.runId(), "no point has a result", "doorbell run --resume RUN finishes it");
    }
    if (spec.kind() == PlotKind.LINE && spec.open() && !run.figures().isEmpty()) {
      RunFigures figures = new RunFigures(run);
      List<Chart> charts = new ArrayList<>();
      for (FigureSpec figure : run.figures()) {
        figures.figure(figure).ifPresent(charts::add);
      }
      return new Plots(charts);
    }
    RunCharts charts = new RunCharts(run, spec);
    return new Plots(
        List.of(
            switch (spec.kind()) {
              case LINE -> charts.line();
              case CDF -> charts.cdf();
              case BAR -> charts.bars();
              case HEATMAP -> charts.heat();
              case TIMELINE, TORNADO ->
                  throw new IllegalArgumentException(spec.kind() + " is not drawn from samples");
            }));
  }

  /**
   * What the constants of the model do to a prediction.
   *
   * @param point whose prediction it is
   * @param base the prediction, in {@code unit}
   */
  public static Plots tornado(
      RunData run, String point, String metric, double base, String unit, List<Influence> all) {
    return new Plots(
        List.of(
            TornadoFigure.of(
                "tornado-%s-%s".formatted(metric, point),
                RunFigures.title(metric),
                base,
                unit,
                all,
                "modelled (closed form, nothing was run)",
                provenance(run, point))));
  }

  /** What happened to one message. */
  public static Plots timeline(RunData run, String point, Timeline timeline) {
    return new Plots(
        List.of(
            new TimelineFigure(
                "timeline-" + point,
                timeline,
                RunFigures.note(dev.doorbell.core.Basis.MODELLED),
                provenance(run, timeline.title()))));
  }

  private static Provenance provenance(RunData run, String title) {
    return new Provenance(
        title, run.runId(), run.configHash(), run.gitId(), dev.doorbell.core.Basis.MODELLED.word());
  }

  /** The figures once more under another name; only where there is one. */
  public Plots named(String name) {
    if (charts.size() != 1) {
      throw new IllegalStateException("one name for " + charts.size() + " figures");
    }
    return new Plots(List.of(new Named(charts.getFirst(), name)));
  }

  /** A chart under another name. */
  private record Named(Chart chart, String name) implements Chart {
    @Override
    public List<?> panels() {
      return chart.panels();
    }

    @Override
    public Drawing draw(double width) {
      return chart.draw(width);
    }

    @Override
    public List<? extends Chart> panelByPanel() {
      return chart.panelByPanel().stream()
          .map(
              panel ->
                  new Named(
                      panel,
                      panel
                          .name()
                          .replaceFirst("^" + java.util.regex.Pattern.quote(chart.name()), name)))
          .toList();
    }

    @Override
    public SequencedMap<String, String> pgfplots() {
      String from = Sheet.identifier(chart.name());
      String to = Sheet.identifier(name);
      SequencedMap<String, String> renamed = new LinkedHashMap<>();
      chart
          .pgfplots()
          .forEach(
              (file, text) ->
                  renamed.put(
                      to + file.substring(from.length()), text.replace("{" + from, "{" + to)));
      return renamed;
    }
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

  /** The first figure as SVG, whole, for pages that show it. */
  public SequencedMap<String, byte[]> whole() {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    charts.forEach(chart -> files.put(Sheet.identifier(chart.name()), chart.draw().svg()));
    return files;
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
