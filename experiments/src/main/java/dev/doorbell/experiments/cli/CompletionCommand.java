package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

/** {@code doorbell completion SHELL}. */
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
          case "fish" -> FishCompletion.of(tree);
          default ->
              throw new UsageException(
                  Problem.of(
                          "DB-U074",
                          null,
                          "no completion for '%s'%s"
                              .formatted(shell, Nearest.suggestion(shell, SHELLS)))
                      .fix("one of " + String.join(", ", SHELLS)));
        };
    context.terminal().out().print(script.replace("\r\n", "\n"));
    return ExitCode.OK;
  }
}
