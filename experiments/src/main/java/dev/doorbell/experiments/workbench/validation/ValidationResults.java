package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a validation found.
 *
 * @param machines on which rows ran
 * @param rows in the order of their files
 */
public record ValidationResults(List<Machine> machines, List<CheckedRow> rows) {
  public ValidationResults {
    machines = List.copyOf(machines);
    rows = List.copyOf(rows);
  }

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
    public Machine {
      rows = List.copyOf(rows);
    }

    static Machine of(ModelMachine machine) {
      return new Machine(
          machine.topology(), machine.rows(), machine.leftOut(), machine.hash(), machine.origins());
    }
  }

  /** The results of rows that have run on machines. */
  public static ValidationResults of(List<ModelMachine> machines, List<CheckedRow> rows) {
    return new ValidationResults(machines.stream().map(Machine::of).toList(), rows);
  }

  /** The rows of one machine, those that cannot be run among them. */
  public List<CheckedRow> rowsOf(Machine machine) {
    return rows.stream().filter(row -> row.topology().equals(machine.topology())).toList();
  }

  /** Rows to which constants were fitted. */
  public static List<CheckedRow> fitted(List<CheckedRow> rows) {
    return rows.stream().filter(CheckedRow::fitted).toList();
  }

  /** Rows that the model predicts. */
  public static List<CheckedRow> predicted(List<CheckedRow> rows) {
    return rows.stream().filter(row -> !row.fitted()).toList();
  }

  /** Rows that gave nothing, in the order of their files. */
  public List<CheckedRow> withoutResult() {
    List<CheckedRow> without = new ArrayList<>(rows);
    without.removeIf(CheckedRow::hasRun);
    return without;
  }
}
