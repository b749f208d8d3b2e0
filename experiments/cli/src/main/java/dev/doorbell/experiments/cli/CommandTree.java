package dev.doorbell.experiments.cli;

import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandGroup;
import dev.doorbell.experiments.cli.decode.DecodeCommand;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.cli.plan.Glossary;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * All commands as one tree, for code that needs all of them at once. A run of the tool builds only
 * the one that is used.
 */
final class CommandTree {
  /** Commands of the launcher script, which never reach this program. */
  static final Map<String, String> LAUNCHER = launcher();

  private static final int WIDTH = 100;

  private CommandTree() {}

  private static Map<String, String> launcher() {
    Map<String, String> commands = new LinkedHashMap<>();
    commands.put("test", "formatting, static checks and tests");
    commands.put("format", "format every source file");
    commands.put("bench", "benchmarks of Doorbell itself (JMH)");
    commands.put("docs", "the site of the pages, with search");
    commands.put("bundle", "an archive for machines without a JDK");
    commands.put("package", "a release: archive, image recipe, Maven libraries");
    return commands;
  }

  static CommandLine of() {
    CommandLine root = new CommandLine(CommandSpec.create().name("doorbell"));
    for (Subcommand subcommand : Subcommand.values()) {
      CliCommand created = subcommand.create();
      CommandLine command = line(subcommand.word(), created);
      command.getCommandSpec().usageMessage().description(subcommand.summary());
      if (created instanceof CommandGroup group) {
        for (CommandGroup.Action action : group.actions()) {
          command.addSubcommand(action.word(), line(action.word(), action.command().get()));
        }
      }
      root.addSubcommand(subcommand.word(), command);
    }
    LAUNCHER.forEach(
        (word, summary) -> {
          var usage = new CommandLine.Model.UsageMessageSpec().description(summary);
          root.addSubcommand(word, CommandSpec.create().usageMessage(usage));
        });
    return root;
  }

  private static CommandLine line(String name, CliCommand command) {
    CommandLine line = new CommandLine(command);
    suggest(line.getCommandSpec());
    line.setCommandName(name);
    line.setUsageHelpWidth(WIDTH);
    return line;
  }

  /** Tells parameters whose label says what belongs there the names that there are. */
  private static void suggest(CommandSpec spec) {
    for (PositionalParamSpec parameter : List.copyOf(spec.positionalParameters())) {
      List<String> names = names(parameter.paramLabel());
      if (!names.isEmpty()) {
        spec.remove(parameter);
        spec.addPositional(parameter.toBuilder().completionCandidates(names).build());
      }
    }
    for (OptionSpec option : List.copyOf(spec.options())) {
      if (option.paramLabel().equals("CODE")) {
        List<String> codes = Code.all().stream().map(Code::id).toList();
        spec.remove(option);
        spec.addOption(option.toBuilder().completionCandidates(codes).build());
      }
    }
  }

  private static List<String> names(String label) {
    return switch (label) {
      case "EXPERIMENT" -> ExperimentFiles.names();
      case "WHAT" -> Glossary.KINDS;
      case "FORMAT" -> DecodeCommand.FORMATS;
      case "SHELL" -> CompletionCommand.SHELLS;
      default -> List.of();
    };
  }
}
