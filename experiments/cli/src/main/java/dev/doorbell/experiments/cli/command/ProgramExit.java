package dev.doorbell.experiments.cli.command;

/** A program that a command ran has ended with a status, which becomes this process's own. */
public final class ProgramExit extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  public ProgramExit(int status) {
    super("exit status " + status, null, false, false);
    this.status = status;
  }

  public int status() {
    return status;
  }
}
