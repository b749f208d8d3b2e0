package dev.doorbell.experiments.cli.command;

import picocli.CommandLine.Option;

/** Options that every command takes. */
public final class CommonOptions {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("unused") // what parses asks the parser whether it was given
  private boolean help;

  @Option(
      names = {"-v", "--verbose"},
      description = "Say more; show the stack trace of a fault.")
  private boolean verbose;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print results alone.")
  private boolean quiet;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  /** Whether the user asked for detail, stack traces of faults included. */
  public boolean verbose() {
    return verbose;
  }

  /** Whether results alone are wanted. */
  public boolean quiet() {
    return quiet;
  }

  /** Whether a program reads what is printed. */
  public boolean json() {
    return json;
  }
}
