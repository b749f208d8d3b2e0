package dev.doorbell.experiments.cli.explore;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code explore} looks at instead of a kernel: litmus tests, or a case. */
final class ExploreSelection {
  @Option(
      names = "--litmus",
      paramLabel = "FILE|FOLDER",
      description =
          "Decide litmus tests by the axioms of the PTX memory model, every execution of each, and "
              + "run them on the explorer's own memory as a second opinion.")
  @Nullable String litmus;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "2",
      description = "Litmus tests: follow a loop that often round (${DEFAULT-VALUE}).")
  int rounds;

  @Option(
      names = "--executions",
      paramLabel = "N",
      defaultValue = "5000000",
      description = "Litmus tests: candidate executions at most (${DEFAULT-VALUE}).")
  long executions;

  @Option(
      names = "--case",
      paramLabel = "NAME",
      description =
          "Explore a public bug, broken and fixed, by strict rules; 'list' names them all, "
              + "'all' explores them all.")
  @Nullable String bug;
}
