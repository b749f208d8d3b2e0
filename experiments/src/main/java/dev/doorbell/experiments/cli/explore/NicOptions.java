package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.AdapterOption;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.explore.Nic;
import dev.doorbell.experiments.workbench.explore.Nic.Remedy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/** The HCAs of an exploration. */
final class NicOptions {
  private static final String ALL = "all";

  @Option(
      names = "--nic",
      paramLabel = "NAME|FILE|all",
      split = ",",
      description =
          "What the HCAs promise (docs/adapters.md): cx7, cx7-ar, cx8-ooo-rw, cx8-ooo-all,"
              + " relaxed-pcie, no-atomics, split-visibility, efa, gpi, a file, several, or all: a"
              + " table, and which remedies help (default cx7).")
  private List<String> names = List.of();

  @Option(
      names = "--remedy",
      paramLabel = "NAME",
      split = ",",
      description =
          "Explore with a remedy: fence-bit, strict-key, read-flush, ordered-placement,"
              + " acknowledged, atomics.")
  private List<String> remedies = List.of();

  /** Returns true if several adapters are compared. */
  boolean isTable() {
    return names.size() > 1 || names.contains(ALL);
  }

  /** Returns true if neither option was given. */
  boolean isDefault() {
    return names.isEmpty() && remedies.isEmpty();
  }

  /** Returns the HCAs of each row, with the remedies. */
  List<Nic> all() throws UsageException {
    List<Nic> all = new ArrayList<>();
    if (names.contains(ALL)) {
      for (Adapter adapter : Adapters.all()) {
        all.add(fixed(adapter));
      }
    } else {
      for (String name : names) {
        all.add(fixed(AdapterOption.parse("--nic", name)));
      }
    }
    return all.isEmpty() ? List.of(fixed(Adapter.DEFAULT)) : all;
  }

  private Nic fixed(Adapter adapter) throws UsageException {
    Nic nic = Nic.of(adapter);
    for (String word : remedies) {
      List<String> words = Arrays.stream(Remedy.values()).map(Remedy::word).toList();
      Remedy remedy =
          Remedy.of(word)
              .orElseThrow(
                  () ->
                      new UsageException(
                          Problem.of(
                                  "DB-U025",
                                  "--remedy",
                                  "unknown word '%s'%s"
                                      .formatted(word, Nearest.suggestion(word, words)))
                              .fix("one of " + String.join(", ", words))));
      nic = nic.with(remedy);
    }
    return nic;
  }
}
