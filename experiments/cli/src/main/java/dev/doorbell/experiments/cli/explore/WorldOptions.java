package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The worlds in which a kernel is explored: each value of an option with each of the others. */
final class WorldOptions {
  private static final int MOST_WORLDS = 64;
  static final int MOST_RANKS = 16;
  private static final String RANKS = "--ranks";
  private static final String SETTING = "-s ";

  @Option(
      names = "-s",
      paramLabel = "SETTING=VALUE[,VALUE...]",
      description = "A setting of the kernel's own descriptor, or ranks; repeat for more.")
  private List<String> settings = new ArrayList<>();

  @Option(
      names = "--ranks",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Ranks of a kernel that runs at all of them (default 3 and 4; also 6 where they form"
              + " groups).")
  private List<String> ranks = new ArrayList<>();

  @Option(
      names = "--group",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Ranks of a node, for kernels with a setting group (default 2 of 4, 3 and 2 of 6).")
  private List<String> groups = new ArrayList<>();

  @Option(
      names = "--blocks",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Blocks (default: 2; 1 of kernels of one block, as put_latency; or the descriptor's).")
  private List<String> blocks = new ArrayList<>();

  @Option(
      names = "--threads",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Threads of a block (default: 4; 1 of kernels of one poster, as put_batch; or the"
              + " descriptor's).")
  private List<String> threads = new ArrayList<>();

  @Option(
      names = "--ring",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Send ring in 64-byte blocks, a power of two (default 64, and 4 in a second world).")
  private List<String> rings = new ArrayList<>();

  @Option(
      names = "--iterations",
      paramLabel = "N[,N...]",
      split = ",",
      description =
          "Operations of each poster (default 3, and 9 in a second world, where the ring wraps).")
  private List<String> iterations = new ArrayList<>();

  /**
   * The options that tell one world from the others.
   *
   * @param values each {@code --OPTION NUMBER} or {@code -s SETTING=VALUE}
   */
  record Choice(List<String> values) {
    static final Choice USUAL = new Choice(List.of());

    Optional<Integer> number(String option) {
      // a text that is no number is out of every range
      return values.stream()
          .filter(value -> value.startsWith(option + " "))
          .map(value -> value.substring(option.length() + 1))
          .map(value -> value.matches("\\d{1,7}") ? Integer.parseInt(value) : 0)
          .findFirst();
    }

    /** Returns the kernel's own settings, each {@code name=value}. */
    List<String> settings() {
      return values.stream()
          .filter(value -> value.startsWith(SETTING))
          .map(value -> value.substring(SETTING.length()))
          .toList();
    }

    String options() {
      return String.join(" ", values);
    }

    private Choice without(List<Axis> axes) {
      return new Choice(
          values.stream()
              .filter(value -> axes.stream().noneMatch(axis -> value.startsWith(axis.option)))
              .toList());
    }

    Choice with(Choice other) {
      return new Choice(Stream.concat(values.stream(), other.values.stream()).toList());
    }
  }

  /** An option and its value; no value where it is not given. */
  private record Axis(String option, List<String> values) {}

  /**
   * A world.
   *
   * @param choice what tells it from the others
   * @param kernel where the user has described it
   */
  record World(Choice choice, Scenario scenario, @Nullable ExploredKernel kernel) {
    String refusal(Explorer.Report report) {
      return Optional.ofNullable(kernel)
          .flatMap(own -> own.refusal(scenario.program().shape().ranks()))
          .orElseGet(
              () -> "its threads end at once" + new CoverageReport(report.coverage()).lastWay());
    }
  }

  private List<Axis> axes() throws UsageException {
    List<Axis> axes = new ArrayList<>();
    axes.add(new Axis(RANKS + " ", new ArrayList<>(ranks)));
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      if (equals < 1) {
        throw new UsageException(
            Problem.of("DB-U003", "-s " + setting, "a setting has the form name=value"));
      }
      String name = setting.substring(0, equals);
      List<String> values = List.of(setting.substring(equals + 1).split(",", -1));
      if (name.equals("ranks")) {
        axes.getFirst().values.addAll(values);
      } else {
        axes.add(new Axis(SETTING + name + "=", values));
      }
    }
    axes.add(new Axis(SETTING + "group=", groups));
    axes.add(new Axis("--blocks ", blocks));
    axes.add(new Axis("--threads ", threads));
    axes.add(new Axis("--ring ", rings));
    axes.add(new Axis("--iterations ", iterations));
    axes.removeIf(axis -> axis.values.isEmpty());
    return axes;
  }

  /**
   * Returns the choices.
   *
   * @param described the kernel where the user has described it, else null
   * @param wraps a ring that wraps is a world of its own, where no length is given
   */
  List<Choice> choices(@Nullable ExploredKernel described, boolean wraps) throws UsageException {
    List<Axis> axes = axes();
    boolean usualRing = wraps && rings.isEmpty() && iterations.isEmpty();
    boolean all = described != null && described.atAllRanks();
    List<Choice> usual =
        described == null ? ExploredKernel.wrapping(usualRing) : described.worlds(usualRing);
    List<Choice> choices = usual.stream().map(world -> world.without(axes)).distinct().toList();
    for (Axis axis : axes) {
      if (axis.option.strip().equals(RANKS) && !all) {
        throw UsageException.of(
            "DB-U025",
            "--ranks",
            "the kernel does not run at all ranks of a world",
            "leave --ranks out: its descriptor says launch: ranks");
      }
      choices =
          choices.stream()
              .flatMap(
                  choice ->
                      axis.values.stream()
                          .map(value -> choice.with(new Choice(List.of(axis.option + value)))))
              .toList();
    }
    for (Choice choice : choices) {
      UsageException.requireRange("--ranks", choice.number(RANKS).orElse(2), 2, MOST_RANKS);
    }
    if (choices.size() > MOST_WORLDS) {
      throw UsageException.of(
          "DB-U025",
          null,
          "%d worlds are too many: at most %d".formatted(choices.size(), MOST_WORLDS));
    }
    return choices;
  }
}
