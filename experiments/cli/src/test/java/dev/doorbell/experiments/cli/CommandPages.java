package dev.doorbell.experiments.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** A page for every command, in Markdown, from what its options and parameters say. */
final class CommandPages {
  private static final String GENERATED =
      "<!-- Generated from the command itself by CommandPagesTest; edit that, not this. -->\n\n";

  private static final Map<String, String> COMMON = common();

  private CommandPages() {}

  private static Map<String, String> common() {
    Map<String, String> common = new LinkedHashMap<>();
    CommandSpec list =
        Objects.requireNonNull(CommandTree.of().getSubcommands().get("list")).getCommandSpec();
    for (String name : List.of("--help", "--verbose", "--quiet", "--json")) {
      OptionSpec option = Objects.requireNonNull(list.findOption(name), name);
      common.put(names(option), String.join(" ", option.description()));
    }
    return common;
  }

  /** Pages by file name, the index among them. */
  static Map<String, String> all() {
    Map<String, String> pages = new LinkedHashMap<>();
    StringBuilder index = new StringBuilder("# Commands\n\n").append(GENERATED);
    index.append("| command | what it does |\n| --- | --- |\n");
    CommandLine root = CommandTree.of();
    for (Subcommand subcommand : Subcommand.values()) {
      CommandLine command =
          Objects.requireNonNull(root.getSubcommands().get(subcommand.word()), subcommand.word());
      index.append(
          "| [%s](%s.md) | %s |\n"
              .formatted(subcommand.word(), subcommand.word(), escaped(subcommand.summary())));
      pages.put(subcommand.word() + ".md", page(subcommand, command));
    }
    index.append("\nOf the launcher script, which need the sources:\n\n");
    index.append("| command | what it does |\n| --- | --- |\n");
    CommandTree.LAUNCHER.forEach(
        (word, summary) -> index.append("| %s | %s |\n".formatted(word, summary)));
    index.append("\n## Options of all commands\n\n| option | meaning |\n| --- | --- |\n");
    COMMON.forEach((name, meaning) -> index.append("| %s | %s |\n".formatted(name, meaning)));
    index.append(exitCodes());
    pages.put("README.md", index.toString());
    return pages;
  }

  private static String exitCodes() {
    StringBuilder text = new StringBuilder("\n## Exit codes\n\n");
    text.append("The last lines of `doorbell --help` say what they mean:\n\n```\n");
    Tool.overview()
        .lines()
        .dropWhile(line -> !line.startsWith("exit codes"))
        .forEach(line -> text.append(line).append('\n'));
    text.append("```\n\nExit code 10: a claim about every execution of a litmus test had none.\n");
    return text.toString();
  }

  private static String page(Subcommand subcommand, CommandLine command) {
    StringBuilder page = new StringBuilder();
    page.append("# doorbell %s%n%n".formatted(subcommand.word())).append(GENERATED);
    body(page, "doorbell " + subcommand.word(), command, "##");
    command
        .getSubcommands()
        .forEach(
            (word, action) -> {
              page.append("\n## doorbell %s %s%n%n".formatted(subcommand.word(), word));
              body(page, "doorbell %s %s".formatted(subcommand.word(), word), action, "###");
            });
    return page.toString();
  }

  private static void body(StringBuilder page, String name, CommandLine command, String level) {
    CommandSpec spec = command.getCommandSpec();
    List<String> prose = new ArrayList<>();
    List<String> examples = new ArrayList<>();
    for (String raw : spec.usageMessage().header()) {
      String line = raw.replace("%%", "%");
      if (line.startsWith("  ")) {
        flush(page, prose);
        examples.add(line.strip());
      } else {
        flushExamples(page, examples);
        if (line.isEmpty()) {
          flush(page, prose);
        } else {
          prose.add(line);
        }
      }
    }
    flush(page, prose);
    flushExamples(page, examples);
    page.append(level).append(" Usage\n\n```\n").append(usage(name, command)).append("```\n");
    if (!spec.positionalParameters().isEmpty()) {
      page.append("\n| parameter | meaning |\n| --- | --- |\n");
      spec.positionalParameters()
          .forEach(parameter -> row(page, "`" + parameter.paramLabel() + "`", parameter));
    }
    List<OptionSpec> options =
        spec.options().stream().filter(option -> !option.hidden() && !isCommon(option)).toList();
    if (!options.isEmpty()) {
      page.append("\n| option | meaning |\n| --- | --- |\n");
      options.forEach(option -> row(page, names(option), option));
    }
  }

  /** The index has the options of all commands. */
  private static boolean isCommon(OptionSpec option) {
    return COMMON.containsKey(names(option))
        && String.join(" ", option.description()).equals(COMMON.get(names(option)));
  }

  /** The command's whole name, and its parameters; the options have a table. */
  private static String usage(String name, CommandLine command) {
    CommandLine alone = new CommandLine(command.getCommandSpec().userObject());
    alone.setCommandName(name);
    alone.setUsageHelpWidth(100);
    alone.getCommandSpec().usageMessage().abbreviateSynopsis(true);
    return alone
        .getHelp()
        .synopsis(0)
        .lines()
        .map(line -> Ansi.OFF.string(line).stripTrailing() + "\n")
        .reduce("", String::concat);
  }

  private static void flush(StringBuilder page, List<String> lines) {
    if (!lines.isEmpty()) {
      page.append(String.join("\n", lines)).append("\n\n");
      lines.clear();
    }
  }

  private static void flushExamples(StringBuilder page, List<String> lines) {
    if (!lines.isEmpty()) {
      page.append("```\n").append(String.join("\n", lines)).append("\n```\n\n");
      lines.clear();
    }
  }

  private static String names(OptionSpec option) {
    String parameter =
        option.arity().max() == 0 || option.paramLabel().isEmpty() ? "" : "=" + option.paramLabel();
    return "`" + String.join(", ", option.names()) + parameter + "`";
  }

  private static void row(StringBuilder page, String name, ArgSpec argument) {
    String meaning =
        String.join(" ", Arrays.asList(argument.description()))
            .replace("${DEFAULT-VALUE}", String.valueOf(argument.defaultValueString(true)))
            .replace("%%", "%");
    page.append("| %s | %s |\n".formatted(name.replace("|", "\\|"), escaped(meaning)));
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|").replace("<", "&lt;");
  }
}
