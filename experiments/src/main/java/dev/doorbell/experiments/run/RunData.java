package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.condition.Contrast;
import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.kernel.KernelMetric;
import dev.doorbell.experiments.config.value.Axis;
import java.util.List;
import java.util.Map;
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
 * @param brought metrics that its kernels bring, by name
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
    Map<String, KernelMetric> brought,
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
        Map.of(),
        new Derived());
  }

  /**
   * A run of a config.
   *
   * @param gitId commit of the checkout that ran it, where known
   * @param rows finished points in plan order
   */
  public static RunData of(
      String runId,
      ExperimentConfig config,
      Optional<String> gitId,
      Basis basis,
      List<SummaryRow> rows) {
    return new RunData(
        runId,
        config.name(),
        config.question(),
        config.hash(),
        gitId,
        basis,
        config.seed(),
        config.axes(),
        rows,
        config.figures(),
        config.contrasts(),
        config.expectations(),
        config.brought(),
        new Derived());
  }

  public RunData {
    axes = List.copyOf(axes);
    rows = List.copyOf(rows);
    figures = List.copyOf(figures);
    contrasts = List.copyOf(contrasts);
    expectations = List.copyOf(expectations);
    brought = Map.copyOf(brought);
  }

  /** Whether higher values of a metric are better. */
  public boolean higherIsBetter(String metric, String unit) {
    return KernelMetric.higherIsBetter(brought, metric, unit);
  }

  /** Returns this run with other points, and the axes that they vary. */
  public RunData with(List<Axis> varied, List<SummaryRow> points) {
    return copy(gitId, varied, points, contrasts);
  }

  /** Returns this run restricted to some points, with one pair of lines to compare. */
  RunData with(List<SummaryRow> some, Contrast contrast) {
    return copy(gitId, axes, some, List.of(contrast));
  }

  /** Without the commit: what is made of it depends on its results, not on who ran it when. */
  public RunData anonymous() {
    return copy(Optional.empty(), axes, rows, contrasts);
  }

  private RunData copy(
      Optional<String> git, List<Axis> varied, List<SummaryRow> points, List<Contrast> compared) {
    return new RunData(
        runId,
        experiment,
        question,
        configHash,
        git,
        basis,
        seed,
        varied,
        points,
        figures,
        compared,
        expectations,
        brought,
        new Derived());
  }
}
