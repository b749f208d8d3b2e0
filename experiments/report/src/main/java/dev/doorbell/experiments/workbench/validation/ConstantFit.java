package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.workbench.validation.Sensitivity.Parameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Fits the constants of a machine that name some rows to these rows, by least squares of relative
 * errors, and writes them. Effects are found once; a step that is too long is halved.
 */
public final class ConstantFit {
  private static final int STEPS = 4;

  private final Validation validation;

  public ConstantFit(Validation validation) {
    this.validation = validation;
  }

  /**
   * The result for one machine.
   *
   * @param before the rows with the values of the file
   * @param after the rows with the fitted values
   * @param changes factors on constants, by key
   * @param text the topology with the fitted values
   */
  public record Result(
      ModelMachine machine,
      List<CheckedRow> before,
      List<CheckedRow> after,
      Map<String, Double> changes,
      String text) {}

  /**
   * Fits.
   *
   * @param rows of the machine; each counts as much as the others
   * @throws InterruptedException when the user ends it
   */
  public Result of(ModelMachine machine, List<Row> rows)
      throws EnvironmentException, InterruptedException {
    try (Sensitivity sensitivity = new Sensitivity(validation, machine)) {
      return of(sensitivity, machine, rows);
    }
  }

  private static Result of(Sensitivity sensitivity, ModelMachine machine, List<Row> rows)
      throws EnvironmentException, InterruptedException {
    List<CheckedRow> before = sensitivity.run(rows);
    List<Row> run = before.stream().map(CheckedRow::row).toList();
    SequencedMap<Parameter, double[]> effects = sensitivity.fitted(before);
    List<Parameter> parameters = List.copyOf(effects.keySet());
    double[] sum = new double[parameters.size()];
    List<CheckedRow> after = before;
    double share = 1;
    for (int step = 0; step < STEPS && !parameters.isEmpty(); step++) {
      double[] missing =
          after.stream().mapToDouble(row -> Math.log(row.row().value() / row.modelled())).toArray();
      double[] more = LeastSquares.step(missing, List.copyOf(effects.values()));
      double[] next = sum.clone();
      for (int i = 0; i < next.length; i++) {
        next[i] += share * more[i];
      }
      Optional<List<CheckedRow>> better = sensitivity.run(run, changes(parameters, next));
      if (better.isEmpty() || squares(better.get()) >= squares(after)) {
        share /= 2;
        continue;
      }
      after = better.get();
      sum = next;
    }
    Map<String, Double> factors = new LinkedHashMap<>();
    for (int i = 0; i < sum.length; i++) {
      for (String key : parameters.get(i).keys()) {
        factors.put(key, Math.exp(sum[i]));
      }
    }
    return new Result(machine, before, after, factors, sensitivity.text(changes(parameters, sum)));
  }

  private static Map<Parameter, Double> changes(List<Parameter> parameters, double[] values) {
    Map<Parameter, Double> changes = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i++) {
      changes.put(parameters.get(i), values[i]);
    }
    return changes;
  }

  private static double squares(List<CheckedRow> rows) {
    return rows.stream().mapToDouble(row -> row.error() * row.error()).sum();
  }
}
