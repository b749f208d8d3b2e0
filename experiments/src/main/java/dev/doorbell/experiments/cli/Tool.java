package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.config.Nearest;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.plan.EnvironmentException;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.run.RunException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** From an argument list to an exit code. Nothing that a user types ends in a stack trace. */
public final class Tool {
  private static final int WIDTH = 100;

  private final Context context;

  Tool(Context context) {
    this.context = context;
  }

  /** Runs one command line. */
  ExitCode run(String... arguments) {
    List<String> words = new ArrayList<>(Arrays.asList(arguments));
    if (words.isEmpty() || isHelp(words.getFirst())) {
      if (words.size() > 1 && Subcommand.of(words.get(1)).isPresent()) {
        return run(words.get(1), "--help");
      }
      context.terminal().out().print(overview());
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
    print(
        Problem.of("DB-U001", null, "unknown %s '%s'%s".formatted(kind, word, near))
            .fix("doorbell --help lists the commands"));
    return ExitCode.USAGE;
  }

  /** Some commands are groups, whose next word says which of them is meant. */
  private ExitCode start(Subcommand subcommand, List<String> words) {
    if (subcommand == Subcommand.KERNEL && !words.isEmpty() && !words.getFirst().startsWith("-")) {
      String word = words.removeFirst();
      return KernelAction.of(word)
          .map(action -> dispatch("kernel " + word, action.create(), words))
          .orElseGet(() -> unknownAction("kernel", word, KernelAction.suggestion(word)));
    }
    if (subcommand == Subcommand.HCA && !words.isEmpty() && !words.getFirst().startsWith("-")) {
      String word = words.removeFirst();
      return HcaAction.of(word)
          .map(action -> dispatch("hca " + word, action.create(), words))
          .orElseGet(() -> unknownAction("hca", word, HcaAction.suggestion(word)));
    }
    if (subcommand == Subcommand.CLAIMS && !words.isEmpty() && !words.getFirst().startsWith("-")) {
      String word = words.removeFirst();
      return ClaimsAction.of(word)
          .map(action -> dispatch("claims " + word, action.create(), words))
          .orElseGet(() -> unknownAction("claims", word, ClaimsAction.suggestion(word)));
    }
    if (subcommand == Subcommand.PAPER && !words.isEmpty() && !words.getFirst().startsWith("-")) {
      String word = words.removeFirst();
      return PaperAction.of(word)
          .map(action -> dispatch("paper " + word, action.create(), words))
          .orElseGet(() -> unknownAction("paper", word, PaperAction.suggestion(word)));
    }
    return dispatch(subcommand.word(), subcommand.create(), words);
  }

  private ExitCode unknownAction(String group, String word, String suggestion) {
    print(
        Problem.of("DB-U001", null, "unknown command '%s %s'%s".formatted(group, word, suggestion))
            .fix("doorbell %s --help".formatted(group)));
    return ExitCode.USAGE;
  }

  private ExitCode dispatch(String name, Command command, List<String> words) {
    CommandLine parser = parser(name, command);
    try {
      CommandLine.ParseResult parsed = parser.parseArgs(words.toArray(String[]::new));
      if (parsed.isUsageHelpRequested()) {
        PrintWriter out = new PrintWriter(context.terminal().out(), false, StandardCharsets.UTF_8);
        parser.usage(out, Ansi.OFF);
        out.flush();
        return ExitCode.OK;
      }
    } catch (ParameterException e) {
      print(explain(name, parser, e));
      return ExitCode.USAGE;
    }
    return execute(command);
  }

  private static CommandLine parser(String name, Command command) {
    CommandLine parser = new CommandLine(command);
    parser.setCommandName("doorbell " + name);
    parser.setUsageHelpWidth(WIDTH);
    parser.setUnmatchedOptionsArePositionalParams(false);
    parser.setCaseInsensitiveEnumValuesAllowed(true);
    return parser;
  }

  private static Problem explain(String name, CommandLine parser, ParameterException e) {
    String help = "doorbell %s --help".formatted(name);
    if (e instanceof UnmatchedArgumentException unmatched && !unmatched.getUnmatched().isEmpty()) {
      String word = unmatched.getUnmatched().getFirst();
      if (!word.startsWith("-")) {
        return Problem.of("DB-U003", null, "'%s' is one argument too many".formatted(word))
            .fix(help);
      }
      String option = word.replaceFirst("=.*", "");
      List<String> known = new ArrayList<>();
      parser.getCommandSpec().options().forEach(spec -> known.addAll(List.of(spec.names())));
      return Problem.of(
              "DB-U002",
              null,
              "unknown option '%s'%s".formatted(option, Nearest.suggestion(option, known)))
          .fix(help);
    }
    String what =
        e instanceof MissingParameterException missing && !missing.getMissing().isEmpty()
            ? "missing " + missing.getMissing().getFirst().paramLabel()
            : String.valueOf(e.getMessage()).lines().findFirst().orElse("cannot be understood");
    return Problem.of("DB-U003", null, what).fix(help);
  }

  private ExitCode execute(Command command) {
    try {
      return command.run(context);
    } catch (UsageException e) {
      print(e.problem());
      return ExitCode.USAGE;
    } catch (ConfigException e) {
      e.problems().forEach(this::print);
      int errors = e.problems().size();
      context.terminal().err().printf("%d %s%n", errors, errors == 1 ? "error" : "errors");
      return ExitCode.CONFIG;
    } catch (EnvironmentException e) {
      print(e.problem());
      trace(command, e);
      return ExitCode.ENVIRONMENT;
    } catch (RunException e) {
      print(e.problem());
      trace(command, e);
      return e.kind() == RunException.Kind.UNREADABLE ? ExitCode.USAGE : ExitCode.ENVIRONMENT;
    } catch (PointFailure e) {
      print(e.problem());
      trace(command, e);
      return ExitCode.FAILED;
    } catch (ProgramExit e) {
      throw e;
    } catch (RuntimeException | Error e) {
      String message = e.getMessage() == null ? "" : ": " + e.getMessage();
      print(
          Problem.of(
                  "DB-X001",
                  null,
                  "Doorbell itself failed: %s%s".formatted(e.getClass().getSimpleName(), message))
              .fix("run it again with -v and report what it prints"));
      trace(command, e);
      return ExitCode.FAILED;
    }
  }

  private void trace(Command command, Throwable e) {
    if (command.verbose()) {
      e.printStackTrace(context.terminal().err());
    }
  }

  private void print(Problem problem) {
    context.terminal().err().println(problem.text());
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
      text.append("  %-10s %s%n".formatted(subcommand.word(), subcommand.summary()));
    }
    text.append(
        """

        doorbell COMMAND --help explains a command; doorbell --version says which Doorbell this is.
        exit codes  0 done, verified   1 a point failed   2 usage   3 config   4 environment   5 regression
                    6 claim not reproduced   7 partial results   8 counter-example   77 everything waived
                    130 interrupted, can be resumed
        """);
    return text.toString();
  }

  /** Streams are never closed here: they are the process's own. */
  static PrintStream utf8(PrintStream stream) {
    return new PrintStream(stream, true, StandardCharsets.UTF_8);
  }
}
