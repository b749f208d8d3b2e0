package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * What a validation found.
 *
 * @param machines on which rows ran
 * @param rows in the order of their files
 */
public record ValidationResults(List<Machine> machines, List<CheckedRow> rows) {

  /**
   * A topology as it was when its rows ran.
   *
   * @param topology its name, or the path of its file
   * @param rows names of the machines of rows that it stands for
   * @param leftOut as {@link ModelMachine#leftOut}
   * @param hash as {@link ModelMachine#hash}
   * @param constants how many of them have each origin
   */
  public record Machine(
      String topology,
      List<String> rows,
      String leftOut,
      String hash,
      Map<Origin, Long> constants) {

    static Machine of(ModelMachine machine) {
      return new Machine(
          machine.topology(), machine.rows(), machine.leftOut(), machine.hash(), machine.origins());
    }
  }

  public static ValidationResults of(List<ModelMachine> machines, List<CheckedRow> rows) {
    return new ValidationResults(machines.stream().map(Machine::of).toList(), rows);
  }

  /** The rows of one machine, those that cannot be run among them. */
  public List<CheckedRow> rowsOf(Machine machine) {
    return rows.stream().filter(row -> row.topology().equals(machine.topology())).toList();
  }

  public static List<CheckedRow> fitted(List<CheckedRow> rows) {
    return rows.stream().filter(CheckedRow::fitted).toList();
  }

  /** Rows that the model predicts and that follow from no others. */
  public static List<CheckedRow> predicted(List<CheckedRow> rows) {
    return rows.stream().filter(row -> !row.fitted() && !row.follows()).toList();
  }

  /** Rows that the model predicts and that follow from others. */
  public static List<CheckedRow> following(List<CheckedRow> rows) {
    return rows.stream().filter(CheckedRow::follows).toList();
  }

  /** Rows that gave nothing, in the order of their files. */
  public List<CheckedRow> withoutResult() {
    List<CheckedRow> without = new ArrayList<>(rows);
    without.removeIf(CheckedRow::hasRun);
    return without;
  }

  /**
   * How far the model is off on some rows. Shares and errors are relative: 0.1 is 10 %.
   *
   * @param rows that have run
   * @param median of the absolute errors; 0 without rows
   * @param worst the greatest absolute error; 0 without rows
   * @param worstRow id of the row that has it; empty without rows
   * @param within10 share of rows within 10 %; 0 without rows
   * @param within15 share of rows within 15 %; 0 without rows
   */
  public record RowErrors(
      int rows, double median, double worst, String worstRow, double within10, double within15) {

    /** The errors of those that have run. */
    public static RowErrors of(List<CheckedRow> rows) {
      List<CheckedRow> run =
          rows.stream()
              .filter(CheckedRow::hasRun)
              .sorted(Comparator.comparingDouble(row -> Math.abs(row.error())))
              .toList();
      int n = run.size();
      if (n == 0) {
        return new RowErrors(0, 0, 0, "", 0, 0);
      }
      double low = Math.abs(run.get((n - 1) / 2).error());
      double high = Math.abs(run.get(n / 2).error());
      return new RowErrors(
          n,
          (low + high) / 2,
          Math.abs(run.getLast().error()),
          run.getLast().row().id(),
          share(run, CheckedRow.Verdict.WITHIN_10),
          share(run, CheckedRow.Verdict.WITHIN_15));
    }

    private static double share(List<CheckedRow> run, CheckedRow.Verdict bar) {
      return (double) run.stream().filter(row -> row.verdict().compareTo(bar) <= 0).count()
          / run.size();
    }
  }
}
