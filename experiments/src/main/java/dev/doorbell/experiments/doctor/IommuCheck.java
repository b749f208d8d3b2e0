package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.function.Consumer;

/** The IOMMU, and whether it translates what GPUs and NICs say to each other. */
final class IommuCheck implements Check {
  static final Code OFF =
      Code.pass(
          "DB-IOMMU-01",
          "no IOMMU between GPU and HCA",
          "None of the GPUs and NICs has an iommu_group.",
          "Addresses mean the same to every device.");
  static final Code PASSTHROUGH =
      Code.pass(
          "DB-IOMMU-02",
          "the IOMMU passes through",
          "iommu_group/type of all GPUs and NICs is identity.",
          "Addresses mean the same to every device; there are no IO-TLB misses.");
  static final Code TRANSLATES =
      Code.warn(
          "DB-IOMMU-03",
          "the IOMMU translates",
          "iommu_group/type of a GPU or a NIC is DMA or DMA-FQ.",
          "GPUDirect RDMA by peermem needs addresses that mean the same to every device and may fail"
              + " or corrupt; each IO-TLB miss costs a read about 280 ns more (480 to 760 ns in the data of"
              + " pcie-bench).",
          "boot with iommu=pt (and intel_iommu=on or amd_iommu=on), or switch the IOMMU off",
          "NVIDIA GPUDirect RDMA guide, supported systems",
          "Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018");

  @Override
  public List<Code> codes() {
    return List.of(OFF, PASSTHROUGH, TRANSLATES);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    if (!patient.pair()) {
      return;
    }
    List<PciFunction> grouped =
        patient.ends().stream().filter(end -> end.iommuGroup().isPresent()).toList();
    if (grouped.isEmpty()) {
      found.accept(new Finding(OFF, "", "no IOMMU group on any GPU or NIC"));
      return;
    }
    List<PciFunction> translated =
        grouped.stream()
            .filter(end -> end.iommuGroup().filter(type -> type.startsWith("DMA")).isPresent())
            .toList();
    if (translated.isEmpty()) {
      found.accept(new Finding(PASSTHROUGH, "", "identity"));
      return;
    }
    found.accept(
        new Finding(
            TRANSLATES,
            String.join(" ", translated.stream().map(PciFunction::address).toList()),
            "type " + translated.getFirst().iommuGroup().orElseThrow()));
  }
}
