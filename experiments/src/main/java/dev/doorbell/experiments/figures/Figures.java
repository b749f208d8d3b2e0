package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.config.FigureSpec;
import dev.doorbell.experiments.figures.drawing.Drawing;
import dev.doorbell.experiments.run.RunData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The figures that a run's config asks for, each as SVG and PDF.
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
    return plots(run).files(PlotFormat.standard());
  }

  static SequencedMap<String, Drawing> drawings(RunData run) {
    return plots(run).drawings();
  }

  private static Plots plots(RunData run) {
    RunFigures figures = new RunFigures(run);
    List<Chart> charts = new ArrayList<>();
    for (FigureSpec spec : run.figures()) {
      figures.figure(spec).ifPresent(charts::add);
    }
    return new Plots(charts);
  }
}
