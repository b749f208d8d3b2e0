package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.results.print.Screen;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * Destinations of output: results to {@code out}, progress and errors to {@code err}.
 *
 * @param interactive whether {@code err} is a terminal whose line can be rewritten
 * @param width columns of a line of {@code out}; {@link #UNLIMITED} where it is no terminal
 */
public record Terminal(PrintStream out, PrintStream err, boolean interactive, int width) {
  /** A file or a pipe: lines may be as long as they are. */
  public static final int UNLIMITED = Integer.MAX_VALUE;

  private static final int NARROWEST = 40;

  /** Output to a file or a pipe. */
  public Terminal(PrintStream out, PrintStream err, boolean interactive) {
    this(out, err, interactive, UNLIMITED);
  }

  /** Prints a problem, in lines that fit. */
  public void problem(Problem problem) {
    err.println(Screen.folded(problem.text(), width));
  }

  /**
   * The width that a value of {@code COLUMNS} stands for, which the launcher sets on a terminal.
   *
   * @param columns of the environment, or null
   */
  public static int width(@Nullable String columns) {
    return columns == null || !columns.matches("[1-9][0-9]{0,5}")
        ? UNLIMITED
        : Math.max(NARROWEST, Integer.parseInt(columns));
  }
}
