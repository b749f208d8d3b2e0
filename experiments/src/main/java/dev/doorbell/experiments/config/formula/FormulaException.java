package dev.doorbell.experiments.config.formula;

/** A text that is no formula, or a formula without a value. */
public final class FormulaException extends Exception {
  private static final long serialVersionUID = 1L;

  public FormulaException(String message) {
    super(message);
  }

  /** What is wrong, in words. */
  public String why() {
    return String.valueOf(getMessage());
  }
}
