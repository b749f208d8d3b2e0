package dev.doorbell.experiments.workbench.validation;

import java.util.Comparator;
import java.util.List;

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
