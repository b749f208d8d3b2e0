package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.CommandGroup;
import dev.doorbell.experiments.cli.command.CommandRunner;
import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** From an argument list to an exit code. */
public final class Tool {
  private final CommandContext context;

  Tool(CommandContext context) {
    this.context = context;
  }

  /** Runs a command line; output that standard output did not take is an error too. */
  ExitCode run(String... arguments) {
    ExitCode code = execute(arguments);
    if (!context.out().checkError() || code != ExitCode.OK) {
      return code;
    }
    if (System.out.checkError() && isReaderGone()) {
      return ExitCode.FAILED; // as in 'doorbell list | head': it had read enough
    }
    context.problem(
        Problem.of("DB-U005", "standard output", "it did not take all of the output")
            .effect("what was printed is not whole; files are")
            .fix("make room where it leads to, or keep its reader open"));
    return ExitCode.FAILED;
  }

  private static boolean isReaderGone() {
    try {
      new FileOutputStream(FileDescriptor.out).write('\n'); // fails again, and says why
      return false;
    } catch (IOException e) {
      return "Broken pipe".equals(e.getMessage());
    }
  }

  private ExitCode execute(String... arguments) {
    List<String> words = new ArrayList<>(Arrays.asList(arguments));
    if (words.isEmpty() || isHelp(words.getFirst())) {
      if (words.size() > 1 && Subcommand.of(words.get(1)).isPresent()) {
        return execute(words.get(1), "--help");
      }
      context.print(overview());
      return ExitCode.OK;
    }
    String word = words.removeFirst();
    return Subcommand.of(word)
        .map(subcommand -> start(subcommand, words))
        .orElseGet(() -> unknown(word));
  }

  private static boolean isHelp(String word) {
    return word.equals("--help") || word.equals("-h") || word.equals("help");
  }

  private ExitCode unknown(String word) {
    String kind = word.startsWith("-") ? "option" : "command";
    String near = word.startsWith("-") ? "" : Subcommand.suggestion(word);
    return usage(
        Problem.of("DB-U001", null, "unknown %s '%s'%s".formatted(kind, word, near))
            .fix("doorbell --help lists the commands"));
  }

  /** Some commands are groups, whose next word says which of them is meant. */
  private ExitCode start(Subcommand subcommand, List<String> words) {
    CommandRunner runner = new CommandRunner(context);
    CliCommand command = subcommand.create();
    if (command instanceof CommandGroup group
        && !words.isEmpty()
        && !words.getFirst().startsWith("-")) {
      String second = words.removeFirst();
      return group
          .find(second)
          .map(
              action -> runner.run(subcommand.word() + " " + second, action.command().get(), words))
          .orElseGet(() -> usage(group.unknown(second)));
    }
    return runner.run(subcommand.word(), command, words);
  }

  private ExitCode usage(Problem problem) {
    context.problem(problem);
    return ExitCode.USAGE;
  }

  /** The first screen: what to type, then what there is. */
  static String overview() {
    StringBuilder text =
        new StringBuilder(
            """
            doorbell - GPU-initiated communication, from a CUDA kernel to a figure

              doorbell demo                                       one put, step by step
              doorbell run pull-vs-push                           an experiment, with table and figures
              doorbell run pull-vs-push -s size=64,4K,64K         the same with other sizes
              doorbell describe pull-vs-push                      what it asks and what is expected
              doorbell predict pull-vs-push -s path=pull          what the closed forms say

            commands
            """);
    for (Subcommand subcommand : Subcommand.values()) {
      text.append("  %-14s %s%n".formatted(subcommand.word(), subcommand.summary()));
    }
    text.append(
        """

        doorbell COMMAND --help explains a command; doorbell --version says which Doorbell this is.
        exit codes  0 done, verified   1 a point failed   2 usage   3 config   4 environment   5 regression
                    6 claim not reproduced   7 partial results   8 counter-example   9 undecided
                    11 no finding, not all covered   77 everything waived   130 interrupted, can be resumed
        """);
    return text.toString();
  }

  /** Streams are never closed here: they are the process's own. */
  static PrintStream utf8(PrintStream stream) {
    return new PrintStream(stream, true, StandardCharsets.UTF_8);
  }
}
