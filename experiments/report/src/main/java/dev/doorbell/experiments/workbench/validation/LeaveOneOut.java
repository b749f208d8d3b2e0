package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.workbench.validation.Sensitivity.Parameter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * What the model of a machine says of each row that it was fitted to, when the constants that name
 * the row are fitted again to all its other rows.
 *
 * <p>Constants with the same source are one parameter, a factor on all of them. The fit is a
 * Gauss-Newton step in logarithms from the values of the file, by the effect of each parameter on
 * each row; then the row that was left out runs with the new values. A parameter that no other row
 * depends on cannot be fitted without the row: nothing is predicted then, and the row says so.
 */
public final class LeaveOneOut {
  /** The least change of a row, relative to that of a parameter, that determines the parameter. */
  private static final double DEPENDS = 0.03;

  private final Validation validation;

  public LeaveOneOut(Validation validation) {
    this.validation = validation;
  }

  /**
   * A row and what is said of it without it.
   *
   * @param fit the row with the constants of the file
   * @param constants that name it
   * @param modelled without it, in its unit; NaN where nothing else determines the constants
   */
  public record Left(CheckedRow fit, List<String> constants, double modelled) {
    /** Whether other rows determine the constants. */
    public boolean predicted() {
      return !Double.isNaN(modelled);
    }

    /** The row with the value without it. */
    public CheckedRow checked() {
      return new CheckedRow(
          fit.row(), fit.topology(), true, modelled, CheckedRow.State.RUN, fit.reason());
    }
  }

  /**
   * The result for one machine.
   *
   * @param parameters that name one of its rows
   * @param trials rows that were run for it
   */
  public record Result(ModelMachine machine, List<Left> rows, int parameters, int trials) {

    /** Those that other rows predict. */
    public List<CheckedRow> predicted() {
      return rows.stream().filter(Left::predicted).map(Left::checked).toList();
    }
  }

  /**
   * Leaves out each fitted row of a machine in turn.
   *
   * @param rows of any machines
   * @throws InterruptedException when the user ends it
   */
  public Result of(ModelMachine machine, List<Row> rows)
      throws EnvironmentException, InterruptedException {
    List<Row> own = rows.stream().filter(row -> machine.rows().contains(row.machine())).toList();
    try (Sensitivity sensitivity = new Sensitivity(validation, machine)) {
      return of(sensitivity, machine, own);
    }
  }

  private static Result of(Sensitivity sensitivity, ModelMachine machine, List<Row> rows)
      throws EnvironmentException, InterruptedException {
    List<CheckedRow> usual = sensitivity.run(rows);
    SequencedMap<Parameter, double[]> effects = sensitivity.fitted(usual);
    List<Left> left = new ArrayList<>();
    for (int out = 0; out < usual.size(); out++) {
      CheckedRow row = usual.get(out);
      List<Parameter> named = new ArrayList<>();
      List<double[]> theirs = new ArrayList<>();
      List<String> keys = new ArrayList<>();
      boolean determined = true;
      for (Map.Entry<Parameter, double[]> each : effects.entrySet()) {
        double[] effect = each.getValue();
        if (each.getKey().names(row)) {
          named.add(each.getKey());
          theirs.add(effect);
          keys.addAll(each.getKey().keys());
          determined &= dependsElsewhere(effect, out) || !depends(effect[out]);
        }
      }
      if (named.isEmpty()) {
        continue;
      }
      double modelled = Double.NaN;
      if (determined) {
        double[] missing =
            usual.stream()
                .mapToDouble(each -> Math.log(each.row().value() / each.modelled()))
                .toArray();
        missing[out] = Double.NaN;
        double[] steps = LeastSquares.step(missing, theirs);
        Map<Parameter, Double> changes = new LinkedHashMap<>();
        for (int i = 0; i < steps.length; i++) {
          changes.put(named.get(i), steps[i]);
        }
        modelled =
            sensitivity
                .run(List.of(row.row()), changes)
                .map(run -> run.getFirst().modelled())
                .orElse(Double.NaN);
      }
      left.add(new Left(row, keys, modelled));
    }
    return new Result(machine, left, effects.size(), sensitivity.trials());
  }

  private static boolean depends(double effect) {
    return Math.abs(effect) >= DEPENDS;
  }

  private static boolean dependsElsewhere(double[] effect, int out) {
    for (int i = 0; i < effect.length; i++) {
      if (i != out && depends(effect[i])) {
        return true;
      }
    }
    return false;
  }
}
