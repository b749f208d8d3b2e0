package dev.doorbell.core.fabric.explore.litmus;

/** A litmus file that cannot be understood or taken: where, what, and what to do about it. */
public final class LitmusException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int line;
  private final String fix;

  public LitmusException(int line, String what, String fix) {
    super(what);
    this.line = line;
    this.fix = fix;
  }

  /** The line of the file, from 1. */
  public int line() {
    return line;
  }

  public String fix() {
    return fix;
  }

  public String what() {
    return String.valueOf(getMessage());
  }
}
