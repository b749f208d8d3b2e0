package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.RecordCopy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

  /** Returns whether higher values of a metric are better. */
  public boolean higherIsBetter(String metric, String unit) {
    return KernelMetric.higherIsBetter(brought, metric, unit);
  }

  /** Returns this run with other points, and the axes that they vary. */
  public RunData with(List<Axis> varied, List<SummaryRow> points) {
    return copy(Map.of("axes", varied, "rows", points));
  }

  /** Returns this run restricted to some points, with one pair of lines to compare. */
  RunData with(List<SummaryRow> some, Contrast contrast) {
    return copy(Map.of("rows", some, "contrasts", List.of(contrast)));
  }

  /** Returns this run without its commit: what is made of it depends on its results alone. */
  public RunData anonymous() {
    return copy(Map.of("gitId", Optional.empty()));
  }

  private RunData copy(Map<String, ?> changes) {
    Map<String, Object> all = new HashMap<>(changes);
    all.put("derived", new Derived());
    return RecordCopy.with(this, all);
  }

  /**
   * Findings of a run, sought once for tables, files and figures together. It follows from the rest
   * of the run, and so is equal to any other.
   */
  public static final class Derived {
    private @Nullable List<Crossings.Found> crossings;
    private @Nullable List<Expectations.Found> expectations;

    synchronized List<Crossings.Found> crossings(Supplier<List<Crossings.Found>> seek) {
      List<Crossings.Found> found = crossings == null ? seek.get() : crossings;
      crossings = found;
      return found;
    }

    synchronized List<Expectations.Found> expectations(Supplier<List<Expectations.Found>> seek) {
      List<Expectations.Found> found = expectations == null ? seek.get() : expectations;
      expectations = found;
      return found;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Derived;
    }

    @Override
    public int hashCode() {
      return 0;
    }

    @Override
    public String toString() {
      return "";
    }
  }
}
