package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

/**
 * The world around a command; tests put another one in its place.
 *
 * @param runtime made on first use, so that commands that need no GPU load none
 * @param arguments the whole command line, for the manifest
 */
public record CommandContext(
    Terminal terminal,
    Supplier<ExperimentRuntime> runtime,
    Disk disk,
    Clock clock,
    Interruption interruption,
    List<String> arguments) {

  public PrintStream out() {
    return terminal.out();
  }

  public PrintStream err() {
    return terminal.err();
  }

  /** Returns the columns of a line of {@link #out}. */
  public int width() {
    return terminal.width();
  }

  /** Prints a line to {@link #out}. */
  public void println(Object line) {
    out().println(line);
  }

  /** Prints a formatted text to {@link #out}. */
  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  public void printf(String format, Object... values) {
    out().printf(format, values);
  }

  /** Prints a problem to {@link #err}, in lines that fit. */
  public void problem(Problem problem) {
    terminal.problem(problem);
  }

  /** Prints a text to {@link #out}, in lines that fit. */
  public void print(String text) {
    out().print(Screen.folded(text, width()));
  }

  /** Returns the same surroundings for a command whose results go elsewhere. */
  public CommandContext printingTo(OutputStream results, List<String> words) {
    PrintStream out = new PrintStream(results, true, StandardCharsets.UTF_8);
    Terminal to = new Terminal(out, terminal.err(), false);
    return new CommandContext(to, runtime, disk, clock, interruption, words);
  }

  /** Returns the same surroundings with another runtime. */
  public CommandContext with(ExperimentRuntime other) {
    return new CommandContext(terminal, () -> other, disk, clock, interruption, arguments);
  }
}
