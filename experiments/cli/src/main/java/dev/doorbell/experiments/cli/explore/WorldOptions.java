package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.explore.Scenario;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The worlds in which a kernel is explored: each value of an option with each of the others. */
final class WorldOptions {
  private static final int MOST_WORLDS = 64;
  private static final int MOST_RANKS = 16;

  @Option(
      names = "-s",
      paramLabel = "SETTING=VALUE[,VALUE...]",
      description = "A setting of the kernel's own descriptor, or ranks; repeat for more.")
  private List<String> settings = new ArrayList<>();

  @Option(
      names = "--ranks",
      paramLabel = "N[,N...]",
      split = ",",
      description = "Ranks of a kernel that runs at all of them (default 3 and 4).")
  private List<Integer> ranks = new ArrayList<>();

  @Option(
      names = "--group",
      paramLabel = "N[,N...]",
      split = ",",
      description = "Ranks of a node, for kernels with a setting group (default 2 of 4).")
  private List<Integer> groups = new ArrayList<>();

  @Option(
      names = "--blocks",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Blocks (default: 2; 1 of kernels of one block, as put_latency; or the descriptor's).")
  private List<Integer> blocks = new ArrayList<>();

  @Option(
      names = "--threads",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Threads of a block (default: 4; 1 of kernels of one poster, as put_batch; or the"
              + " descriptor's).")
  private List<Integer> threads = new ArrayList<>();

  /**
   * The options that tell one world from the others.
   *
   * @param ranks 0 for the kernel's own number
   * @param settings each {@code name=value}
   * @param blocks null for the usual number
   * @param threads null for the usual number
   */
  record Choice(
      int ranks, List<String> settings, @Nullable Integer blocks, @Nullable Integer threads) {
    private Choice with(List<String> others) {
      return new Choice(ranks, others, blocks, threads);
    }

    /** Returns the options that choose this world alone. */
    String options() {
      List<String> words = new ArrayList<>();
      if (ranks > 0) {
        words.add("--ranks " + ranks);
      }
      settings.forEach(setting -> words.add("-s " + setting));
      if (blocks != null) {
        words.add("--blocks " + blocks);
      }
      if (threads != null) {
        words.add("--threads " + threads);
      }
      return String.join(" ", words);
    }
  }

  /**
   * A world.
   *
   * @param choice what tells it from the others
   * @param kernel where the user has described it
   */
  record World(Choice choice, Scenario scenario, @Nullable ExploredKernel kernel) {
    /** Returns why the kernel refuses it, in words. */
    String refusal() {
      int ranks = scenario.program().shape().ranks();
      return kernel == null
          ? Explained.NO_REASON
          : kernel.refusal(ranks).orElse(Explained.NO_REASON);
    }

    private static final class Explained {
      static final String NO_REASON = "its threads end at once: operation cannot be expressed";
    }
  }

  /** Returns the values of each setting, every one with every other. */
  private static List<List<String>> combinations(List<String> given) throws UsageException {
    List<List<String>> all = new ArrayList<>(List.of(List.of()));
    for (String setting : given) {
      int equals = setting.indexOf('=');
      if (equals < 1) {
        throw new UsageException(
            Problem.of("DB-U003", "-s " + setting, "a setting has the form name=value"));
      }
      List<List<String>> longer = new ArrayList<>();
      for (List<String> each : all) {
        for (String value : setting.substring(equals + 1).split(",", -1)) {
          List<String> more = new ArrayList<>(each);
          more.add(setting.substring(0, equals + 1) + value);
          longer.add(more);
        }
      }
      all = longer;
    }
    return all;
  }

  /**
   * Returns the choices.
   *
   * @param described the kernel where the user has described it, else null
   */
  List<Choice> choices(@Nullable ExploredKernel described) throws UsageException {
    List<String> own = new ArrayList<>(settings);
    List<Integer> counts = new ArrayList<>(ranks);
    own.removeIf(setting -> setting.startsWith("ranks=") && counts.addAll(numbers(setting)));
    if (!groups.isEmpty()) {
      own.add("group=" + String.join(",", groups.stream().map(String::valueOf).toList()));
    }
    if (!counts.isEmpty() && (described == null || !described.atAllRanks())) {
      throw new UsageException(
          Problem.of("DB-U025", "--ranks", "the kernel does not run at all ranks of a world")
              .fix("leave --ranks out: its descriptor says launch: ranks"));
    }
    for (int count : counts) {
      if (count < 2 || count > MOST_RANKS) {
        throw new UsageException(
            Problem.of(
                "DB-U025",
                "--ranks",
                "%d is out of range: 2 to %d is possible".formatted(count, MOST_RANKS)));
      }
    }
    boolean usual = counts.isEmpty() && own.isEmpty();
    if (counts.isEmpty()) {
      counts.addAll(
          described == null || !described.atAllRanks() ? List.of(0) : described.usualRanks());
    }
    List<Choice> choices = new ArrayList<>();
    for (int count : counts) {
      for (List<String> combination : combinations(own)) {
        for (Integer grid : values(blocks)) {
          for (Integer block : values(threads)) {
            Choice choice = new Choice(count, combination, grid, block);
            choices.add(
                usual && described != null ? choice.with(described.usualSettings(count)) : choice);
          }
        }
      }
    }
    if (choices.size() > MOST_WORLDS) {
      throw new UsageException(
          Problem.of(
              "DB-U025",
              null,
              "%d worlds are too many: at most %d".formatted(choices.size(), MOST_WORLDS)));
    }
    return choices;
  }

  private static List<Integer> numbers(String setting) {
    List<Integer> numbers = new ArrayList<>();
    for (String value : setting.substring(setting.indexOf('=') + 1).split(",", -1)) {
      // a text that is no number is out of every range
      numbers.add(value.matches("\\d{1,4}") ? Integer.parseInt(value) : 0);
    }
    return numbers;
  }

  private static List<@Nullable Integer> values(List<Integer> given) {
    List<@Nullable Integer> values = new ArrayList<>(given);
    if (values.isEmpty()) {
      values.add(null);
    }
    return values;
  }
}
