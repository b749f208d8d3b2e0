package dev.doorbell.experiments.scenario.foreign;

/** The structures of a kernel's API are not those that its adapter fills in. */
public final class ApiLayoutException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String fix;

  ApiLayoutException(String what, String fix) {
    super(what);
    this.fix = fix;
  }

  /** What to do about it. */
  public String fix() {
    return fix;
  }
}
