package dev.doorbell.experiments.workbench.explore;

/** A scenario that cannot run: PTX that does not load, an entry that is not there. */
public final class ScenarioException extends Exception {
  private static final long serialVersionUID = 1L;

  public ScenarioException(String message, Throwable cause) {
    super(message, cause);
  }

  public ScenarioException(String message) {
    super(message);
  }
}
