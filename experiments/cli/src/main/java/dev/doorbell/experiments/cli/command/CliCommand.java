package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.ProblemException;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A subcommand, ready to run once its options are parsed. */
public abstract class CliCommand {
  @Mixin private CommonOptions common = new CommonOptions();

  public abstract ExitCode run(CommandContext context) throws ProblemException;

  /**
   * Takes words among which is no option. A parser of options takes a third of the time of a short
   * program.
   *
   * @return false for words that have to be parsed
   */
  protected boolean takes(List<String> words) {
    return false;
  }

  protected final CommonOptions common() {
    return common;
  }

  /** Prints a result as JSON where that was asked for, else as text. */
  protected final void print(CommandContext context, Supplier<?> json, Supplier<String> text) {
    if (common.json()) {
      Json.print(context, json.get());
    } else {
      context.out().print(text.get());
    }
  }

  /** Options that every command takes. */
  public static final class CommonOptions {
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

    public boolean verbose() {
      return verbose;
    }

    public boolean quiet() {
      return quiet;
    }

    public boolean json() {
      return json;
    }
  }
}
