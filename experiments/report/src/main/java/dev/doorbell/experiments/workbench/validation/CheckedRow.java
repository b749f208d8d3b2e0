package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.Problem;

/**
 * A row beside the model.
 *
 * @param row the published value
 * @param topology that stands for its machine; empty where none does
 * @param fitted whether a constant of that topology was fitted to the row
 * @param modelled what the model gives, in the row's unit; NaN where it gives nothing
 * @param state why it gives nothing, or that it does
 * @param reason in words why it gives nothing; empty where it does
 */
public record CheckedRow(
    Row row, String topology, boolean fitted, double modelled, State state, String reason) {

  /** What became of a row. */
  public enum State {
    /** It ran. */
    RUN,
    /** It cannot be run: nothing here has what it measured. */
    NO_CONFIG,
    /** Its config is wrong. */
    WRONG_CONFIG,
    /** Its point gave no result. */
    FAILED
  }

  /** How far the model is off. */
  public enum Verdict {
    WITHIN_5("within 5 %", 0.05),
    WITHIN_10("within 10 %", 0.10),
    WITHIN_15("within 15 %", 0.15),
    OUTSIDE("OUTSIDE 15 %", Double.POSITIVE_INFINITY);

    private final String text;
    private final double limit;

    Verdict(String text, double limit) {
      this.text = text;
      this.limit = limit;
    }

    /** As tables say it. */
    public String text() {
      return text;
    }

    static Verdict of(double error) {
      for (Verdict verdict : values()) {
        if (Math.abs(error) <= verdict.limit) {
          return verdict;
        }
      }
      throw new IllegalArgumentException("an error of " + error);
    }
  }

  static CheckedRow run(Row row, ModelMachine machine, double modelled) {
    return new CheckedRow(
        row, machine.topology(), machine.fittedTo(row.id()), modelled, State.RUN, "");
  }

  static CheckedRow without(Row row, String topology, String reason) {
    return new CheckedRow(row, topology, false, Double.NaN, State.NO_CONFIG, reason);
  }

  static CheckedRow without(Row row, String topology, State state, Problem problem) {
    String fix = problem.fix() == null ? "" : "; fix: " + problem.fix();
    String reason = "%s: %s%s".formatted(problem.code(), problem.what(), fix);
    return new CheckedRow(row, topology, false, Double.NaN, state, reason);
  }

  /** Whether there is something to compare. */
  public boolean hasRun() {
    return state == State.RUN;
  }

  /** (modelled - measured) / |measured|; NaN where it has not run. */
  public double error() {
    return (modelled - row.value()) / Math.abs(row.value());
  }

  /** Returns true if it is predicted, and follows from other rows: it tests nothing of its own. */
  public boolean follows() {
    return !fitted && RowFile.follows().contains(row.id() + " " + topology);
  }

  /** How far the model is off, of a row that has run. */
  public Verdict verdict() {
    return Verdict.of(error());
  }

  /** Whether it has run and is farther off than its bar. */
  public boolean isOutside() {
    return hasRun() && Math.abs(error()) > row.bar();
  }
}
