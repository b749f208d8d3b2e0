package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Prints a script that completes commands, options and names in your shell.",
      "",
      "  doorbell completion bash > ~/.local/share/bash-completion/completions/doorbell",
      "  doorbell completion zsh > ~/.doorbell.zsh      then: source ~/.doorbell.zsh",
      ""
    })
final class CompletionCommand extends CliCommand {
  static final List<String> SHELLS = List.of("bash", "zsh");

  @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
  private String shell = "";

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    if (!SHELLS.contains(shell)) {
      throw UsageException.of(
          "DB-U074",
          null,
          "no completion for '%s'%s".formatted(shell, Nearest.suggestion(shell, SHELLS)),
          "one of " + String.join(", ", SHELLS));
    }
    // Picocli's script serves both shells: it asks zsh for its emulation of bash's completion.
    String script = AutoComplete.bash("doorbell", CommandTree.of());
    context.out().print(script.replace("\r\n", "\n"));
    return ExitCode.OK;
  }
}
