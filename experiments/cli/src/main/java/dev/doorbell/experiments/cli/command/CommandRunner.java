package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.results.figures.Unplottable;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunExecution;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Runs a parsed command, and prints its problems for the user. Nothing that a user types ends in a
 * stack trace.
 */
public final class CommandRunner {
  private static final int WIDTH = 100;

  /** Picocli's message about a word that is none of an enumeration's. */
  private static final Pattern CONSTANT =
      Pattern.compile(
          "Invalid value for option '(?<option>[^']+)'(?: \\(.*\\))?: expected one of"
              + " \\[(?<words>[A-Z0-9_, ]+)\\] \\(case-insensitive\\) but was '(?<word>.*)'");

  private final CommandContext context;

  public CommandRunner(CommandContext context) {
    this.context = context;
  }

  /**
   * Parses a command's words and runs it.
   *
   * @param name as it was typed, {@code kernel new} for one of a group
   * @param words what stands behind the name
   */
  public ExitCode run(String name, CliCommand command, List<String> words) {
    if (command.takes(words)) {
      return execute(command);
    }
    CommandLine parser = parser(name, command);
    try {
      CommandLine.ParseResult parsed = parser.parseArgs(words.toArray(String[]::new));
      if (parsed.isUsageHelpRequested()) {
        PrintWriter out = new PrintWriter(context.out(), false, StandardCharsets.UTF_8);
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

  private CommandLine parser(String name, CliCommand command) {
    CommandLine parser = new CommandLine(command);
    parser.setCommandName(Typed.program() + " " + name);
    int width = Math.min(WIDTH, context.width());
    parser.setUsageHelpWidth(width);
    UsageMessageSpec usage = parser.getCommandSpec().usageMessage();
    usage.header(
        Stream.of(usage.header())
            .flatMap(line -> line.isEmpty() ? Stream.of(line) : Screen.folded(line, width).lines())
            .toArray(String[]::new));
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
    Matcher constant = CONSTANT.matcher(what);
    if (!constant.matches()) {
      return Problem.of("DB-U003", null, what).fix(help);
    }
    String word = constant.group("word");
    List<String> words =
        List.of(constant.group("words").toLowerCase(Locale.ROOT).replace('_', '-').split(", "));
    return Problem.of(
            "DB-U003",
            constant.group("option"),
            "'%s' is none of %s%s"
                .formatted(word, String.join(", ", words), Nearest.suggestion(word, words)))
        .fix(help);
  }

  private ExitCode execute(CliCommand command) {
    try {
      return command.run(context);
    } catch (ProblemException e) {
      e.problems().forEach(this::print);
      if (e instanceof ConfigException) {
        int errors = e.problems().size();
        context.err().printf("%d %s%n", errors, errors == 1 ? "error" : "errors");
      } else if (!(e instanceof UsageException)) {
        trace(command, e);
      }
      return code(e);
    } catch (ProgramExit e) {
      throw e;
    } catch (RuntimeException | Error e) {
      if (RunExecution.isOutOfMemory(e)) {
        print(RunExecution.memory(null, e));
        trace(command, e);
        return ExitCode.ENVIRONMENT;
      }
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

  private static ExitCode code(ProblemException e) {
    return switch (e) {
      case UsageException _ -> ExitCode.USAGE;
      case ConfigException _ -> ExitCode.CONFIG;
      case RunException run when run.kind() == RunException.Kind.UNREADABLE -> ExitCode.USAGE;
      case Unplottable _ -> ExitCode.USAGE;
      case PointFailure _ -> ExitCode.FAILED;
      default -> ExitCode.ENVIRONMENT;
    };
  }

  private void trace(CliCommand command, Throwable e) {
    if (command.common().verbose()) {
      e.printStackTrace(context.err());
    }
  }

  private void print(Problem problem) {
    context.problem(problem);
  }
}
