package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciFunction;
import java.util.List;

/** The IOMMU, and whether it translates what GPUs and NICs say to each other. */
final class IommuCheck implements Check {
  private static final Code OFF = Code.of("DB-IOMMU-01");
  private static final Code PASSTHROUGH = Code.of("DB-IOMMU-02");
  private static final Code TRANSLATES = Code.of("DB-IOMMU-03");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      return;
    }
    List<PciFunction> grouped =
        machine.ends().stream().filter(end -> end.iommuGroup().isPresent()).toList();
    if (grouped.isEmpty()) {
      found.add(OFF, "", "no IOMMU group on any GPU or NIC");
      return;
    }
    List<PciFunction> translated =
        grouped.stream()
            .filter(end -> end.iommuGroup().filter(type -> type.startsWith("DMA")).isPresent())
            .toList();
    if (translated.isEmpty()) {
      found.add(PASSTHROUGH, "", "identity");
      return;
    }
    found.add(
        TRANSLATES,
        String.join(" ", translated.stream().map(PciFunction::address).toList()),
        "type " + translated.getFirst().iommuGroup().orElseThrow());
  }
}
