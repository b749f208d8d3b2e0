package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.List;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Prints a script that completes commands, options and names in your shell.",
      "",
      "  doorbell completion bash > ~/.local/share/bash-completion/completions/doorbell",
      "  doorbell completion zsh > ~/.doorbell.zsh      then: source ~/.doorbell.zsh",
      "  doorbell completion fish > ~/.config/fish/completions/doorbell.fish",
      ""
    })
final class CompletionCommand extends CliCommand {
  static final List<String> SHELLS = List.of("bash", "zsh", "fish");

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
  private String shell = "";

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    CommandLine tree = CommandTree.of();
    String script =
        switch (shell) {
          // Picocli's script serves both shells: it asks zsh for its emulation of bash's
          // completion.
          case "bash", "zsh" -> AutoComplete.bash("doorbell", tree);
          case "fish" -> fish(tree);
          default ->
              throw UsageException.of(
                  "DB-U074",
                  null,
                  "no completion for '%s'%s".formatted(shell, Nearest.suggestion(shell, SHELLS)),
                  "one of " + String.join(", ", SHELLS));
        };
    context.out().print(script.replace("\r\n", "\n"));
    return ExitCode.OK;
  }

  static String fish(CommandLine root) {
    StringBuilder script = new StringBuilder();
    script.append("# Completion of doorbell for fish.\n");
    script.append("complete -c doorbell -f\n");
    for (Map.Entry<String, CommandLine> entry : root.getSubcommands().entrySet()) {
      String word = entry.getKey();
      CommandLine command = entry.getValue();
      line(script, "__fish_use_subcommand", "-a " + word, summary(command));
      Map<String, CommandLine> actions = command.getSubcommands();
      if (actions.isEmpty()) {
        options(script, "__fish_seen_subcommand_from " + word, command);
        continue;
      }
      String all = String.join(" ", actions.keySet());
      String chosen = "__fish_seen_subcommand_from " + word;
      actions.forEach(
          (action, actionCommand) -> {
            line(
                script,
                "%s; and not __fish_seen_subcommand_from %s".formatted(chosen, all),
                "-a " + action,
                summary(actionCommand));
            options(
                script,
                "%s; and __fish_seen_subcommand_from %s".formatted(chosen, action),
                actionCommand);
          });
    }
    return script.toString();
  }

  private static void options(StringBuilder script, String condition, CommandLine command) {
    for (OptionSpec option : command.getCommandSpec().options()) {
      if (option.hidden()) {
        continue;
      }
      StringBuilder words = new StringBuilder();
      for (String name : option.names()) {
        words.append(words.isEmpty() ? "" : " ");
        words.append(name.startsWith("--") ? "-l " + name.substring(2) : "-s " + name.substring(1));
      }
      if (option.arity().max() > 0) {
        words.append(" -r");
        Iterable<String> candidates = option.completionCandidates();
        if (candidates != null) {
          words.append(" -a '").append(String.join(" ", candidates)).append('\'');
        } else if (isFile(option.paramLabel())) {
          words.append(" -F");
        }
      }
      line(script, condition, words.toString(), first(option.description()));
    }
    for (PositionalParamSpec parameter : command.getCommandSpec().positionalParameters()) {
      Iterable<String> candidates = parameter.completionCandidates();
      if (candidates != null) {
        line(script, condition, "-a '" + String.join(" ", candidates) + "'", "");
      }
      if (isFile(parameter.paramLabel())) {
        line(script, condition, "-F", "");
      }
    }
  }

  private static boolean isFile(String label) {
    return List.of("FILE", "DIR", "RUN", "EXPERIMENT", "PATH").stream().anyMatch(label::contains);
  }

  private static String summary(CommandLine command) {
    String[] header = command.getCommandSpec().usageMessage().header();
    String[] description = command.getCommandSpec().usageMessage().description();
    return description.length > 0 ? description[0] : first(header);
  }

  private static String first(String[] lines) {
    return lines.length == 0 ? "" : lines[0];
  }

  private static void line(StringBuilder script, String condition, String words, String about) {
    script.append("complete -c doorbell -n '").append(condition).append("' ").append(words);
    if (!about.isEmpty()) {
      script.append(" -d '").append(about.replace("\\", "\\\\").replace("'", "\\'")).append('\'');
    }
    script.append('\n');
  }
}
