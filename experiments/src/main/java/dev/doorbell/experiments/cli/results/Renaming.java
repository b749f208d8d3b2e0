package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.schema.Schema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What {@code --names} says is printed in place of what. */
final class Renaming {
  /** A word, or an axis and its value, and a text. */
  private static final Pattern NAME =
      Pattern.compile("(?<word>[^=]+)=(?:(?<value>[^=\\s]+)=)?(?<text>.*)", Pattern.DOTALL);

  private Renaming() {}

  /**
   * Texts by a word, or by an axis and one of its values, as in {@code cq=gpu=GPU memory}.
   *
   * @throws UsageException when one is no name
   */
  static SequencedMap<String, String> of(List<String> names) throws UsageException {
    SequencedMap<String, String> renamed = new LinkedHashMap<>();
    for (String name : names) {
      Matcher parts = NAME.matcher(name);
      if (!parts.matches()) {
        throw new UsageException(
            Problem.of("DB-U003", "--names " + name, "it is no WORD=TEXT")
                .fix("such as --names pull='NIC pull', or --names cq=gpu='GPU memory'"));
      }
      boolean value =
          parts.group("value") != null
              && Schema.experiment().settings().containsKey(parts.group("word"));
      renamed.put(
          value ? parts.group("word") + "=" + parts.group("value") : parts.group("word"),
          value ? parts.group("text") : name.substring(parts.end("word") + 1));
    }
    return renamed;
  }
}
