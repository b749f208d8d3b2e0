package dev.doorbell.experiments.fuzz;

import dev.doorbell.doctor.facts.PciTargets;
import dev.doorbell.experiments.cli.decode.DecodeTargets;
import dev.doorbell.experiments.cli.explain.ExplainTargets;
import dev.doorbell.experiments.fuzz.run.HcaTargets;
import dev.doorbell.experiments.fuzz.run.KernelTargets;
import dev.doorbell.experiments.fuzz.run.RecordTargets;
import dev.doorbell.experiments.fuzz.run.TextTargets;
import dev.doorbell.experiments.fuzz.run.YamlTargets;
import dev.doorbell.experiments.run.SealTargets;
import dev.doorbell.experiments.workbench.validation.RowTargets;
import dev.doorbell.interop.shim.gpu.FatBinaryTargets;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** All targets of hostile inputs, by name. */
final class Targets {
  static final List<FuzzTarget> ALL =
      Stream.of(
              new DecodeTargets().targets(),
              new ExplainTargets().targets(),
              new FatBinaryTargets().targets(),
              new HcaTargets().targets(),
              new KernelTargets().targets(),
              new PciTargets().targets(),
              new RecordTargets().targets(),
              new RowTargets().targets(),
              new SealTargets().targets(),
              new TextTargets().targets(),
              new YamlTargets().targets())
          .flatMap(List::stream)
          .sorted(Comparator.comparing(FuzzTarget::name))
          .toList();

  private Targets() {}

  static FuzzTarget named(String name) {
    return ALL.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
  }

  static List<String> names() {
    return ALL.stream().map(FuzzTarget::name).toList();
  }

  /** Returns the names in {@code -Ddoorbell.fuzz.targets=}, with commas between them; else all. */
  static List<String> chosen() {
    List<String> chosen = List.of(System.getProperty("doorbell.fuzz.targets", "").split(",", -1));
    return names().stream().filter(name -> chosen.contains("") || chosen.contains(name)).toList();
  }
}
