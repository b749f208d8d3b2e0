package dev.doorbell.experiments.cli;

/** A program that a command ran has ended with a status, which becomes this process's own. */
final class ProgramExit extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  ProgramExit(int status) {
    super("exit status " + status, null, false, false);
    this.status = status;
  }

  int status() {
    return status;
  }
}
