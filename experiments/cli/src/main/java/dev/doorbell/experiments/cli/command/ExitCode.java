package dev.doorbell.experiments.cli.command;

/** Meanings of the command line's exit status; documented, stable, tested. */
public enum ExitCode {
  /** Done, everything verified. */
  OK(0),
  /** At least one point failed or data mismatched. */
  FAILED(1),
  /** Unknown command or option, missing argument, a name or folder that does not exist. */
  USAGE(2),
  /** Invalid configuration. */
  CONFIG(3),
  /** Something that was asked for is missing on this machine, or present and broken. */
  ENVIRONMENT(4),
  /** A regression was found. */
  REGRESSION(5),
  /** A claim was not reproduced, or with {@code --strict} an expectation not met. */
  CLAIM(6),
  /** Finished with partial results: some points timed out. */
  PARTIAL(7),
  /** The explorer found a counter-example. */
  COUNTER_EXAMPLE(8),
  /** Runs were compared, and a point has too few samples for a verdict. */
  UNDECIDED(9),
  /** The explorer found nothing, and has not covered all of the kernel. */
  NOT_COVERED(11),
  /** Everything was waived: nothing can be tested here. */
  WAIVED(77),
  /** Interrupted; the journal is valid and {@code --resume} works. */
  INTERRUPTED(130);

  private final int status;

  ExitCode(int status) {
    this.status = status;
  }

  public int status() {
    return status;
  }
}
