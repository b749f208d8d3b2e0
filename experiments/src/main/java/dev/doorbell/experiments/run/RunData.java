package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.Axis;
import dev.doorbell.experiments.config.Contrast;
import dev.doorbell.experiments.config.Expectation;
import dev.doorbell.experiments.config.FigureSpec;
import java.util.List;
import java.util.Optional;

/**
 * A run as read back from its directory: all that tables and figures are made of. Two runs with the
 * same seed differ in {@code runId} only.
 *
 * @param runId name of the run directory
 * @param experiment name of the experiment
 * @param question what the experiment asks
 * @param configHash of the resolved config, for the provenance in figures
 * @param gitId commit of the checkout that ran it, where known
 * @param axes in the order of the config, values in the order of the config
 * @param rows finished points in plan order; a point that failed has none
 * @param figures what the config asks to be drawn
 * @param contrasts pairs whose crossovers are reported in the table and marked in the figures
 * @param expectations what it is held against
 * @param derived what was found in it so far
 */
public record RunData(
    String runId,
    String experiment,
    String question,
    String configHash,
    Optional<String> gitId,
    Basis basis,
    long seed,
    List<Axis> axes,
    List<SummaryRow> rows,
    List<FigureSpec> figures,
    List<Contrast> contrasts,
    List<Expectation> expectations,
    Derived derived) {

  /** A run in which nothing has been sought yet. */
  public RunData(
      String runId,
      String experiment,
      String question,
      String configHash,
      Optional<String> gitId,
      Basis basis,
      long seed,
      List<Axis> axes,
      List<SummaryRow> rows,
      List<FigureSpec> figures,
      List<Contrast> contrasts,
      List<Expectation> expectations) {
    this(
        runId,
        experiment,
        question,
        configHash,
        gitId,
        basis,
        seed,
        axes,
        rows,
        figures,
        contrasts,
        expectations,
        new Derived());
  }

  /** A run of which nothing is expected. */
  public RunData(
      String runId,
      String experiment,
      String question,
      String configHash,
      Optional<String> gitId,
      Basis basis,
      long seed,
      List<Axis> axes,
      List<SummaryRow> rows,
      List<FigureSpec> figures,
      List<Contrast> contrasts) {
    this(
        runId,
        experiment,
        question,
        configHash,
        gitId,
        basis,
        seed,
        axes,
        rows,
        figures,
        contrasts,
        List.of());
  }

  public RunData {
    axes = List.copyOf(axes);
    rows = List.copyOf(rows);
    figures = List.copyOf(figures);
    contrasts = List.copyOf(contrasts);
    expectations = List.copyOf(expectations);
  }

  /** The same run with some of its points, and one pair of lines to be compared. */
  RunData with(List<SummaryRow> some, Contrast contrast) {
    return new RunData(
        runId,
        experiment,
        question,
        configHash,
        gitId,
        basis,
        seed,
        axes,
        some,
        figures,
        List.of(contrast),
        expectations);
  }
}
