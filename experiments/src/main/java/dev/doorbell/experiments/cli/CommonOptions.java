package dev.doorbell.experiments.cli;

import picocli.CommandLine.Option;

/** Options that every command takes. */
final class CommonOptions {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  boolean help;

  @Option(
      names = {"-v", "--verbose"},
      description = "Say more; show the stack trace of a fault.")
  boolean verbose;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print results alone.")
  boolean quiet;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;
}
