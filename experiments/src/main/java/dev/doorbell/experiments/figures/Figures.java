package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.config.FigureSpec;
import dev.doorbell.experiments.figures.drawing.Drawing;
import dev.doorbell.experiments.run.RunData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The figures that a run's config asks for, each as SVG, PDF and PNG.
 *
 * <p>A figure with several panels is two columns of a paper wide, and comes once more for each
 * panel, one column wide. The bytes depend on the run alone: rebuilt figures compare equal.
 */
public final class Figures {

  private Figures() {}

  /**
   * Draws all figures of a run and writes them; files of the same names are replaced.
   *
   * @param directory made where it is not there
   * @return names of the files written, in order; none where no point has finished
   */
  public static List<String> write(RunData run, Path directory) throws IOException {
    Map<String, byte[]> files = render(run);
    Files.createDirectories(directory);
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Files.write(directory.resolve(file.getKey()), file.getValue());
    }
    return List.copyOf(files.keySet());
  }

  /** Draws all figures of a run: file names with their bytes, in order. */
  public static SequencedMap<String, byte[]> render(RunData run) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    RunFigures figures = new RunFigures(run);
    for (FigureSpec spec : run.figures()) {
      for (Drawn drawn : figures.figure(spec).map(Figures::draw).orElse(List.of())) {
        files.put(drawn.name() + ".svg", drawn.drawing().svg());
        byte[] pdf = drawn.drawing().pdf();
        files.put(drawn.name() + ".pdf", pdf);
        files.put(drawn.name() + ".png", drawn.drawing().png(pdf));
      }
    }
    return Collections.unmodifiableSequencedMap(files);
  }

  private record Drawn(String name, Drawing drawing) {}

  private static List<Drawn> draw(LineFigure figure) {
    List<Drawn> drawn = new ArrayList<>();
    boolean single = figure.panels().size() == 1;
    double width = single ? Theme.ONE_COLUMN : Theme.TWO_COLUMNS;
    drawn.add(new Drawn(LineChart.identifier(figure.name()), LineChart.draw(figure, width)));
    if (!single) {
      for (LineFigure panel : figure.panelByPanel()) {
        String name = LineChart.identifier(panel.name());
        drawn.add(new Drawn(name, LineChart.draw(panel, Theme.ONE_COLUMN)));
      }
    }
    return drawn;
  }
}
