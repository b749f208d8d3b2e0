package dev.doorbell.experiments.results.validation;

import dev.doorbell.experiments.results.figures.Plots;
import dev.doorbell.experiments.results.figures.chart.ParityFigure;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.List;
import java.util.Optional;

/** Modelled against measured values, as a figure. */
public final class ParityPlot {
  private static final String NAME = "parity";
  private static final double BAND = 0.1;

  private ParityPlot() {}

  /** The figure of rows whose values are positive; none where there is no such row. */
  public static Optional<Plots> of(ValidationResults results) {
    List<ParityFigure.Point> points =
        results.rows().stream()
            .filter(row -> row.hasRun() && row.row().value() > 0 && row.modelled() > 0)
            .map(ParityPlot::point)
            .toList();
    if (points.isEmpty()) {
      return Optional.empty();
    }
    RowErrors errors = RowErrors.of(results.rows());
    String samples =
        "%d rows; median error %s; worst %s"
            .formatted(
                errors.rows(),
                ValidationTables.percent(errors.median()),
                ValidationTables.percent(errors.worst()));
    String hashes =
        Integer.toHexString(
            results.machines().stream().map(ValidationResults.Machine::hash).toList().hashCode());
    Provenance provenance =
        new Provenance(
            "modelled against measured", "validate-model", hashes, Optional.empty(), "modelled");
    FigureNotes notes = new FigureNotes(NAME, "MODELLED against measurements", samples, provenance);
    return Optional.of(Plots.of(List.of(new ParityFigure(notes, BAND, points))));
  }

  /** The many rows of DMA are one series without names: docs/validation.md lists them. */
  private static ParityFigure.Point point(CheckedRow row) {
    boolean dma = row.row().config().startsWith(ValidationPage.DMA);
    return new ParityFigure.Point(
        dma ? "" : row.row().id(),
        dma ? "DMA (pcie-bench)" : row.topology(),
        row.row().unit(),
        row.fitted(),
        row.row().value(),
        row.modelled());
  }
}
