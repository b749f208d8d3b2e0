package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.WorldOptions.Choice;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A kernel of the user's as it is explored: where it runs and how large, by its descriptor. */
public record ExploredKernel(UserKernel kernel) {
  private static final int FEW_SLOTS = 2;

  /** Ranks of a kernel that runs at all: the fewest that are more than a pair. */
  private static final Choice MANY = new Choice(List.of("--ranks 3"));

  /** Its second world: the fewest ranks that are groups of several. */
  private static final Choice GROUPED = new Choice(List.of("--ranks 4"));

  /** The fewest ranks of groups, or of nodes, that have a rank in the middle. */
  private static final Choice SIX = new Choice(List.of("--ranks 6"));

  /** The setting of ranks that are joined more closely than others. */
  private static final String GROUP = "group";

  /** A world in which counters and rings of queues wrap. */
  private static final Choice WRAPPING = new Choice(List.of("--ring 4", "--iterations 9"));

  /**
   * The kernel that the argument means: a descriptor, PTX that one describes, or a name in the
   * user's folders; null when it is something else.
   *
   * @param entry that was asked for by name, or null
   * @param settings of its own, each {@code name=value}
   */
  static @Nullable ExploredKernel find(
      UserKernels kernels, String argument, @Nullable String entry, List<String> settings)
      throws UsageException {
    UserKernel kernel = kernels.find(argument, settings);
    if (kernel == null || (entry != null && !entry.equals(kernel.descriptor().entry()))) {
      return null;
    }
    return new ExploredKernel(fitting(kernel));
  }

  /** Returns a kernel whose descriptor and PTX fit. */
  public static UserKernel fitting(UserKernel kernel) throws UsageException {
    List<Problem> problems = KernelWorkbench.checkAbi(kernel);
    if (!problems.isEmpty()) {
      throw new UsageException(problems.getFirst());
    }
    return kernel;
  }

  boolean atAllRanks() {
    return kernel.descriptor().launch().allRanks();
  }

  /**
   * Returns the worlds in which it is explored by default: those that its descriptor names, or two
   * of different shape, four where ranks form groups.
   *
   * @param wraps one of them has a ring that wraps
   */
  List<Choice> worlds(boolean wraps) {
    KernelDescriptor descriptor = kernel.descriptor();
    List<KernelSetting> settings = descriptor.extension().settings();
    if (!descriptor.worlds().isEmpty()) {
      return descriptor.worlds().stream().map(world -> choice(world, settings)).toList();
    }
    if (!atAllRanks()) {
      return wrapping(wraps);
    }
    Choice second = wraps ? GROUPED.with(WRAPPING) : GROUPED;
    return settings.stream().anyMatch(own -> own.name().equals(GROUP) && own.most() >= 2)
        ? List.of(MANY, second.with(ofGroup(2)), SIX.with(ofGroup(3)), SIX.with(ofGroup(2)))
        : List.of(MANY, second);
  }

  private static Choice ofGroup(int ranks) {
    return new Choice(List.of("-s " + GROUP + "=" + ranks));
  }

  /** Returns the worlds of a kernel between two ranks. */
  static List<Choice> wrapping(boolean wraps) {
    return wraps ? List.of(Choice.USUAL, WRAPPING) : List.of(Choice.USUAL);
  }

  private static Choice choice(Map<String, String> world, List<KernelSetting> settings) {
    return new Choice(
        world.entrySet().stream()
            .map(
                value ->
                    settings.stream().anyMatch(own -> own.name().equals(value.getKey()))
                        ? "-s " + value.getKey() + "=" + value.getValue()
                        : "--" + value.getKey() + " " + value.getValue())
            .toList());
  }

  /** Returns why a kernel may refuse a number of ranks: its settings that do not divide it. */
  Optional<String> refusal(int ranks) {
    return kernel.descriptor().extension().settings().stream()
        .filter(
            setting ->
                setting.standard() instanceof Value.Whole(long whole)
                    && whole > 1
                    && ranks % whole != 0)
        .map(
            setting ->
                "%s=%s does not divide %d"
                    .formatted(setting.name(), setting.standard().text(), ranks))
        .findFirst();
  }

  Scenario.Program program(int ranks) {
    KernelDescriptor descriptor = kernel.descriptor();
    return new Scenario.Program(
        descriptor.ptx(),
        descriptor.entry(),
        kernel.ptx(),
        new Scenario.Shape(
            ranks,
            descriptor.launch().ranks() == KernelDescriptor.Ranks.SENDER ? 1 : ranks,
            atAllRanks()
                ? Scenario.Slots.RANKS
                : switch (descriptor.launch().slots()) {
                  case BLOCKS -> Scenario.Slots.BLOCKS;
                  case THREADS -> Scenario.Slots.THREADS;
                  case WINDOW -> Scenario.Slots.WINDOW;
                },
            arrivals(ranks),
            descriptor.launch().signals(),
            descriptor.launch().sharedBytes(),
            descriptor.launch().cooperative(),
            descriptor.parameters(),
            Optional.of(descriptor)
                .filter(
                    one ->
                        !one.extension().isEmpty()
                            || !one.structures().isEmpty()
                            || one.launch().nvlink())
                .map(KernelDescriptor::text)));
  }

  private List<Scenario.Arrival> arrivals(int ranks) {
    KernelDescriptor.Verify verify = kernel.descriptor().verify();
    List<Scenario.Arrival> arrivals = new ArrayList<>();
    for (int from = 0; from < ranks; from++) {
      for (int to = 0; to < ranks; to++) {
        if (verify.arrives(from, to, ranks)) {
          arrivals.add(
              verify.ofAll()
                  ? new Scenario.Arrival(from, to, verify.message(from, to), from)
                  : Scenario.Arrival.ofAll(from, to));
        }
      }
    }
    return arrivals;
  }

  int blocks() {
    return kernel.descriptor().launch().blocks();
  }

  int threads() {
    return Math.max(1, kernel.descriptor().launch().threads());
  }

  /** Few slots are soon used again, which is where a ring may go wrong. */
  int window() {
    return kernel.descriptor().measures() == KernelDescriptor.Measures.GOODPUT ? FEW_SLOTS : 0;
  }

  /** Returns who rings: the proxy for a kernel that takes that path alone. */
  String ringer() {
    return kernel.descriptor().paths().equals(Set.of("proxy")) ? "proxy" : "gpu";
  }
}
