package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.experiments.cli.command.AdapterOption;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.explore.Nic;
import dev.doorbell.experiments.workbench.explore.Nic.Remedy;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/** The HCAs of an exploration. */
final class NicOptions {
  @Option(
      names = "--nic",
      paramLabel = "NAME|FILE",
      description =
          "What the HCAs promise (docs/adapters.md): cx7, cx7-ar, cx8-ooo-rw, cx8-ooo-all,"
              + " relaxed-pcie, no-atomics, split-visibility, efa, or a file (default cx7).")
  private String name = "";

  @Option(
      names = "--remedy",
      paramLabel = "NAME",
      split = ",",
      description =
          "Explore with a remedy: fence-bit, strict-key, read-flush, ordered-placement,"
              + " acknowledged, atomics.")
  private List<String> remedies = List.of();

  boolean isDefault() {
    return name.isEmpty() && remedies.isEmpty();
  }

  Nic nic() throws UsageException {
    Nic nic = Nic.of(name.isEmpty() ? Adapter.DEFAULT : AdapterOption.parse("--nic", name));
    for (String word : remedies) {
      List<String> words = Arrays.stream(Remedy.values()).map(Remedy::word).toList();
      UsageException.requireWord("--remedy", word, words);
      nic = nic.with(Remedy.of(word).orElseThrow());
    }
    return nic;
  }
}
