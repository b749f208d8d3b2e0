package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.workbench.validation.Sensitivity.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.commons.math3.linear.RealVector;

/**
 * Finds which predicted rows of a machine test something of their own. A row is a function of the
 * machine's constants; where its derivatives are a sum of those of rows before it, the row follows
 * from these. Rows that constants were fitted to come first.
 */
public final class Independence {
  /** Share of a row's derivatives that others must leave unexplained. */
  private static final double LEAST = 0.2;

  /** Share of a row's derivatives, squared, that makes it the row of one constant. */
  private static final double ALONE = 0.95;

  private final Validation validation;

  public Independence(Validation validation) {
    this.validation = validation.ofOneLaunch();
  }

  /**
   * The result for one machine.
   *
   * @param independent predicted rows that test something of their own
   * @param follow the other predicted rows
   * @param rank of all rows together
   * @param rows that have run
   * @param parameters that were changed
   */
  public record Result(
      ModelMachine machine,
      List<CheckedRow> independent,
      List<CheckedRow> follow,
      int rank,
      int rows,
      int parameters) {}

  /**
   * Finds the independent rows of a machine.
   *
   * @param rows of any machines
   * @param changed is told each parameter whose effects were found
   * @throws InterruptedException when the user ends it
   */
  public Result of(ModelMachine machine, List<Row> rows, Consumer<String> changed)
      throws EnvironmentException, InterruptedException {
    List<Row> own = rows.stream().filter(row -> machine.rows().contains(row.machine())).toList();
    if (own.stream().allMatch(row -> machine.fittedTo(row.id()))) {
      return new Result(machine, List.of(), List.of(), 0, own.size(), 0);
    }
    try (Sensitivity sensitivity = new Sensitivity(validation, machine)) {
      return of(sensitivity, machine, own, changed);
    }
  }

  private static Result of(
      Sensitivity sensitivity, ModelMachine machine, List<Row> rows, Consumer<String> changed)
      throws EnvironmentException, InterruptedException {
    List<CheckedRow> usual = sensitivity.run(rows);
    List<Parameter> parameters =
        sensitivity.parameters(constant -> constant.origin() != Origin.ASSUMED);
    List<double[]> effects = new ArrayList<>();
    for (Parameter each : parameters) {
      effects.add(sensitivity.effects(each, usual));
      changed.accept(String.join(", ", each.keys()));
    }
    List<RealVector> basis = new ArrayList<>();
    List<CheckedRow> independent = new ArrayList<>();
    List<CheckedRow> follow = new ArrayList<>();
    for (boolean fitted : List.of(true, false)) {
      for (int i = 0; i < usual.size(); i++) {
        CheckedRow row = usual.get(i);
        if (row.fitted() != fitted) {
          continue;
        }
        double[] derivatives = new double[parameters.size()];
        for (int p = 0; p < derivatives.length; p++) {
          derivatives[p] = effects.get(p)[i];
        }
        boolean joins = LeastSquares.joins(derivatives, basis, LEAST);
        if (!fitted) {
          (joins && !restatesSpecification(derivatives, parameters) ? independent : follow)
              .add(row);
        }
      }
    }
    return new Result(machine, independent, follow, basis.size(), usual.size(), parameters.size());
  }

  /** Returns true if a row depends on one cited constant alone, which it repeats. */
  private static boolean restatesSpecification(double[] derivatives, List<Parameter> parameters) {
    double sum = 0;
    int most = 0;
    for (int p = 0; p < derivatives.length; p++) {
      sum += derivatives[p] * derivatives[p];
      most = Math.abs(derivatives[p]) > Math.abs(derivatives[most]) ? p : most;
    }
    return derivatives[most] * derivatives[most] >= ALONE * sum
        && parameters.get(most).constants().getFirst().origin() == Origin.CITED;
  }
}
