package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Commands that share a first word, such as {@code doorbell paper build} and {@code verify}. */
public abstract class CommandGroup extends CliCommand {
  private final String word;
  private final String subject;
  private final List<Action> actions;

  /**
   * @param word that they share
   * @param subject what they work on, with its article
   * @param actions in the order of the help text
   */
  protected CommandGroup(String word, String subject, List<Action> actions) {
    this.word = word;
    this.subject = subject;
    this.actions = actions;
  }

  /** A command by its second word; only the one that is used is made. */
  public record Action(String word, Supplier<CliCommand> command) {}

  public List<Action> actions() {
    return actions;
  }

  public Optional<Action> find(String second) {
    return actions.stream().filter(action -> action.word().equals(second)).findFirst();
  }

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    throw UsageException.wrong(
        null, "say what to do with " + subject, "doorbell %s %s".formatted(word, alternatives()));
  }

  private String alternatives() {
    List<String> words = words();
    return String.join(", ", words.subList(0, words.size() - 1)) + " or " + words.getLast();
  }

  /** For a second word that is none of them. */
  public Problem unknown(String second) {
    return Problem.of(
            "DB-U001",
            null,
            "unknown command '%s %s'%s"
                .formatted(word, second, Nearest.suggestion(second, words())))
        .fix("doorbell %s --help".formatted(word));
  }

  private List<String> words() {
    return actions.stream().map(Action::word).toList();
  }
}
