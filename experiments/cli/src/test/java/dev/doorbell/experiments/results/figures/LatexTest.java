package dev.doorbell.experiments.results.figures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.latex.Latex;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.tables.RunSelection;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.results.tables.SampleTables;
import dev.doorbell.experiments.run.RunData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is written for LaTeX, set by it: nothing is undefined, and nothing sticks out of its column.
 * {@code -Ddoorbell.latex.keep=DIR} keeps the PDFs, to be looked at.
 */
class LatexTest {
  @TempDir private Path folder;

  @BeforeAll
  static void there() {
    Latex.assumeThere();
  }

  @Tag("slow")
  @Test
  void every_kind_of_figure_fits_its_column_or_both()
      throws IOException, InterruptedException, Unplottable {
    StringBuilder body = new StringBuilder();
    for (FigureKind kind : FigureKind.values()) {
      Plots plots = PlotsTest.plots(kind);
      for (Map.Entry<String, byte[]> file : plots.files(Set.of(PlotFormat.PDF)).entrySet()) {
        Files.write(folder.resolve(file.getKey()), file.getValue());
      }
      for (Map.Entry<String, Drawing> drawn : plots.drawings().entrySet()) {
        boolean wide = drawn.getValue().width() > Theme.ONE_COLUMN;
        String environment = wide ? "figure*" : "figure";
        body.append(
            "\\begin{%s}[t]\\centering\\includegraphics{%s.pdf}\\end{%s}%n"
                .formatted(environment, drawn.getKey(), environment));
        body.append(wide ? "\\clearpage\n" : "");
      }
      body.append("\\clearpage\n");
    }
    assertThat(body.toString()).contains("cdf", "bar", "heatmap", "tornado", "timeline", "latency");
    Latex.typesets(folder, "figures", body.toString());
  }

  @Test
  void every_table_fits_a_page() throws IOException, InterruptedException {
    RunData whole = ModelledRun.counted(ModelledRun.of(List.of("same-switch", "cross-rc"), 3, 1));
    RunData run =
        ModelledRun.with(
            whole,
            whole.axes(),
            whole.rows().stream().filter(row -> ModelledRun.size(row) == 64).toList(),
            whole.figures(),
            whole.basis());
    StringBuilder body = new StringBuilder("\\setlength{\\tabcolsep}{3pt}\n");
    int at = 0;
    for (Table table :
        List.of(
            RunTables.summary(run),
            RunTables.crossovers(whole),
            RunTables.counters(run),
            RunTables.expectations(expected(whole)),
            SampleTables.percentiles(run),
            SampleTables.warnings(run))) {
      assertThat(table.rows()).isNotEmpty();
      Files.writeString(folder.resolve("table" + at + ".tex"), table.latex());
      body.append("\\begin{table*}\\centering\\footnotesize\\input{table").append(at++);
      body.append("}\\end{table*}\n\\clearpage\n");
    }
    Latex.typesets(folder, "tables", body.toString());
  }

  @Test
  void a_table_without_box_fits_a_column() throws IOException, InterruptedException {
    RunData run = ModelledRun.of(List.of("cross-rc"), 10, 1);
    RunData latency =
        RunSelection.metrics(
            run.with(
                run.axes(),
                run.rows().stream()
                    .filter(
                        row -> ModelledRun.size(row) <= 4096 && !row.pointId().startsWith("push"))
                    .toList()),
            List.of("latency"));
    List<RunTables.Statistic> statistics =
        List.of(RunTables.Statistic.P50, RunTables.Statistic.CI, RunTables.Statistic.N);
    Table rows = RunTables.summary(latency, new RunTables.Look(statistics), false);
    Table wide =
        RunTables.summary(latency, new RunTables.Look(List.of(RunTables.Statistic.P50)), false);
    String body =
        "\\footnotesize\n"
            + rows.bareLatex()
            + "\n\n\\setlength{\\tabcolsep}{2pt}\n"
            + wide.bareLatex();
    Latex.typesets(folder, "bare", body);
  }

  /** A run that is held against something that comes so and something that does not. */
  private static RunData expected(RunData run) {
    Expectation.Scope scope =
        new Expectation.Scope(
            "latency", List.of(), "a paper with a rather long title, 2020", "a price is missing");
    return new RunData(
        run.runId(),
        run.experiment(),
        run.question(),
        run.configHash(),
        run.gitId(),
        run.basis(),
        run.seed(),
        run.axes(),
        run.rows(),
        run.figures(),
        run.contrasts(),
        List.of(new Expectation.Within(scope, 0, 1e9), new Expectation.Within(scope, 0, 1)),
        Map.of(),
        new RunData.Derived());
  }
}
