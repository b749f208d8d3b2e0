package dev.doorbell.experiments.workbench.explore;

/** A scenario that cannot run: PTX that does not load, an entry that is not there. */
public final class ScenarioException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String fix;

  public ScenarioException(String message, Throwable cause) {
    super(message, cause);
    this.fix = "";
  }

  public ScenarioException(String message) {
    this(message, "");
  }

  /**
   * Creates an exception.
   *
   * @param fix what the user can do; may be empty
   */
  public ScenarioException(String message, String fix) {
    super(message);
    this.fix = fix;
  }

  /** Returns what the user can do; may be empty. */
  public String fix() {
    return fix;
  }
}
