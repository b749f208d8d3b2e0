package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciConfig;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.doctor.topology.PciTopology;
import java.util.List;
import java.util.Optional;

/** PCI paths, links and settings of GPUs and NICs. */
final class PciChecks {
  private static final int SMALLEST_PAYLOAD = 128;
  private static final int SMALL_READ = 512;
  private static final int LARGEST_READ = 4096;
  private static final int BAR1 = 1;
  private static final long MEBIBYTE = 1 << 20;
  private static final long LARGE_BAR = 1024 * MEBIBYTE;

  private PciChecks() {}

  /** Distance of each GPU from its nearest HCA. */
  static void topology(CheckedMachine machine, CheckResults found) {
    boolean throughHost = false;
    for (PciFunction gpu : machine.facts().gpus()) {
      PciTopology.Path path = machine.topology().nearest(gpu).orElse(null);
      if (path == null) {
        continue;
      }
      PciDistance distance = path.distance();
      throughHost |= distance == PciDistance.PHB;
      String code =
          switch (distance) {
            case PIX, PXB -> "DB-TOPO-01";
            case PHB -> "DB-TOPO-02";
            case NODE -> "DB-TOPO-03";
            case SYS -> "DB-TOPO-04";
          };
      if (machine.virtualMachine() && Code.of(code).verdict() == CheckVerdict.WARN) {
        continue; // DB-VM-02 says what a virtual machine's tree is worth
      }
      found.add(code, gpu.address(), "%s to %s".formatted(distance, path.hca().name()));
    }
    if (machine.facts().host().numaNodes() > 1 && machine.pair()) {
      machine.ends().stream()
          .filter(end -> end.numaNode() < 0)
          .forEach(end -> found.add("DB-TOPO-05", end.address(), "numa_node is -1"));
    }
    if (throughHost && machine.facts().host().cpuModel().contains("Intel(R) Core")) {
      found.add("DB-TOPO-06", "", machine.facts().host().cpuModel());
    }
  }

  /** Access control services: switches that send peers' traffic up to the root complex. */
  static void acs(CheckedMachine machine, CheckResults found) {
    List<PciFunction> bridges =
        machine.topology().paths().stream()
            .filter(path -> path.distance().compareTo(PciDistance.PHB) < 0)
            .flatMap(path -> path.bridges().stream())
            .distinct()
            .sorted()
            .map(machine.facts()::function)
            .flatMap(Optional::stream)
            .toList();
    if (bridges.isEmpty()) {
      return;
    }
    if (bridges.stream().anyMatch(bridge -> !bridge.config().whole())) {
      found.add("DB-ACS-04", "", "config space of the bridges is out of reach for this user");
      return;
    }
    List<PciFunction> redirecting =
        bridges.stream().filter(bridge -> bridge.config().redirectsPeers()).toList();
    if (redirecting.isEmpty()) {
      found.add(
          "DB-ACS-01",
          "",
          "%d bridges between GPUs and HCAs, none redirects".formatted(bridges.size()));
      return;
    }
    String where = String.join(" ", redirecting.stream().map(PciFunction::address).toList());
    found.add(
        machine.virtualMachine() ? "DB-ACS-03" : "DB-ACS-02",
        where,
        "ACS control %s"
            .formatted(
                String.join(
                    " ",
                    redirecting.stream()
                        .map(bridge -> bridge.config().acs().orElse(0))
                        .distinct()
                        .map(control -> "0x%04x".formatted(control))
                        .toList())));
  }

  /** The IOMMU, and whether it translates what GPUs and NICs say to each other. */
  static void iommu(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      return;
    }
    List<PciFunction> grouped =
        machine.ends().stream().filter(end -> end.iommuGroup().isPresent()).toList();
    if (grouped.isEmpty()) {
      found.add("DB-IOMMU-01", "", "no IOMMU group on any GPU or NIC");
      return;
    }
    List<PciFunction> translated =
        grouped.stream()
            .filter(end -> end.iommuGroup().filter(type -> type.startsWith("DMA")).isPresent())
            .toList();
    if (translated.isEmpty()) {
      found.add("DB-IOMMU-02", "", "identity");
      return;
    }
    found.add(
        "DB-IOMMU-03",
        String.join(" ", translated.stream().map(PciFunction::address).toList()),
        "type " + translated.getFirst().iommuGroup().orElseThrow());
  }

  /** PCIe links of GPUs and NICs: speed, width, and whether the port can be fed. */
  static void links(CheckedMachine machine, CheckResults found) {
    boolean full = true;
    boolean any = false;
    for (PciFunction end : machine.ends().stream().distinct().toList()) {
      any = true;
      full &= link(machine, end, found);
    }
    if (any && full) {
      found.add("DB-LINK-01", "", "every GPU and NIC at full speed and width");
    }
  }

  private static boolean link(CheckedMachine machine, PciFunction end, CheckResults found) {
    PciFunction.Link link = end.link();
    if (!link.known()) {
      found.add("DB-LINK-05", end.address(), "no link speed");
      return false;
    }
    PciFunction.Link above =
        above(machine, end).map(PciFunction::link).filter(PciFunction.Link::known).orElse(link);
    double speed = Math.min(link.maxSpeed(), above.maxSpeed());
    int width = Math.min(link.maxWidth(), above.maxWidth());
    boolean full = true;
    if (speed < link.maxSpeed() || width < link.maxWidth()) {
      found.add(
          "DB-LINK-06",
          end.address(),
          "card %s, slot %s"
              .formatted(
                  text(link.maxSpeed(), link.maxWidth()),
                  text(above.maxSpeed(), above.maxWidth())));
    }
    if (link.speed() < speed) {
      found.add(
          end.nvidiaGpu() ? "DB-LINK-04" : "DB-LINK-02",
          end.address(),
          "%s of %s".formatted(generation(link.speed()), generation(speed)));
      full = false;
    }
    if (link.width() < width) {
      found.add("DB-LINK-03", end.address(), "x%d of x%d".formatted(link.width(), width));
      full = false;
    }
    double ports = rate(machine, end);
    if (ports > link.gigabits()) {
      found.add(
          "DB-LINK-07",
          end.address(),
          "PCIe %.0f Gb/s, ports %.0f Gb/s".formatted(link.gigabits(), ports));
    }
    return full;
  }

  private static Optional<PciFunction> above(CheckedMachine machine, PciFunction end) {
    return end.bridges().isEmpty()
        ? Optional.empty()
        : machine.facts().function(end.bridges().getLast());
  }

  /** Sub-functions of a NIC show its ports once more. */
  private static double rate(CheckedMachine machine, PciFunction end) {
    return machine.facts().hcas().stream()
        .filter(hca -> hca.pciAddress().equals(Optional.of(end.address())))
        .mapToDouble(PciChecks::rate)
        .max()
        .orElse(0);
  }

  private static double rate(RdmaDevice hca) {
    return hca.ports().stream().filter(RdmaPort::active).mapToDouble(RdmaPort::gigabits).sum();
  }

  private static String text(double speed, int width) {
    return "%s x%d".formatted(generation(speed), width);
  }

  /** Gen1 is 2.5 GT/s, Gen2 5, Gen3 8, and each link after doubles it. */
  private static String generation(double speed) {
    double[] speeds = {2.5, 5, 8, 16, 32, 64, 128};
    int generation = 1;
    while (generation < speeds.length && speeds[generation] <= speed) {
      generation++;
    }
    return "Gen" + generation;
  }

  /** Payload size, read size, tags and relaxed ordering of GPUs and NICs. */
  static void settings(CheckedMachine machine, CheckResults found) {
    List<PciFunction> ends = machine.ends().stream().distinct().toList();
    if (ends.isEmpty()) {
      return;
    }
    if (ends.stream().anyMatch(end -> end.config().express().isEmpty())) {
      found.add("DB-PCIE-08", "", "config space is out of reach for this user");
      return;
    }
    boolean good = true;
    for (PciFunction end : ends) {
      good &= setting(end, end.config().express().orElseThrow(), found);
    }
    if (good) {
      PciConfig.Express first = ends.getFirst().config().express().orElseThrow();
      found.add(
          "DB-PCIE-01", "", "MaxPayload %d, relaxed ordering on".formatted(first.maxPayload()));
    }
  }

  private static boolean setting(PciFunction end, PciConfig.Express express, CheckResults found) {
    boolean good = true;
    String at = end.address();
    if (express.maxPayload() == SMALLEST_PAYLOAD && express.payloadSupported() > SMALLEST_PAYLOAD) {
      found.add("DB-PCIE-02", at, "MaxPayload 128 of %d".formatted(express.payloadSupported()));
      good = false;
    }
    if (!end.nvidiaGpu() && express.maxReadRequest() < LARGEST_READ) {
      boolean few = express.maxReadRequest() < SMALL_READ;
      found.add(
          few ? "DB-PCIE-03" : "DB-PCIE-04",
          at,
          "MaxReadReq %d".formatted(express.maxReadRequest()));
      good &= !few;
    }
    if (!express.relaxedOrdering()) {
      found.add("DB-PCIE-05", at, "RlxdOrd-");
      good = false;
    }
    if (express.extendedTagsSupported() && !express.extendedTags()) {
      found.add("DB-PCIE-06", at, "ExtTag-");
      good = false;
    }
    if (express.tenBitTagsSupported() && !express.tenBitTags()) {
      found.add("DB-PCIE-07", at, "10BitTagReq-");
    }
    return good;
  }

  /** BAR1 of the GPU, the window through which an HCA reaches its memory. */
  static void bars(CheckedMachine machine, CheckResults found) {
    List<PciFunction> gpus = machine.facts().gpus();
    long least = Long.MAX_VALUE;
    for (PciFunction gpu : gpus) {
      long size = gpu.bars().get(BAR1);
      if (size == 0) {
        found.add("DB-BAR-03", gpu.address(), "BAR1 is unassigned");
      } else if (size < LARGE_BAR) {
        found.add("DB-BAR-02", gpu.address(), "BAR1 is %d MiB".formatted(size / MEBIBYTE));
      }
      least = Math.min(least, size);
    }
    if (!gpus.isEmpty() && least >= LARGE_BAR) {
      found.add("DB-BAR-01", "", "%d GiB".formatted(least / LARGE_BAR));
    }
  }

  /** Facts that a virtual machine hides. */
  static void virtualMachine(CheckedMachine machine, CheckResults found) {
    machine.facts().nics().stream()
        .filter(PciFunction::mellanoxVirtualFunction)
        .forEach(nic -> found.add("DB-VM-05", nic.address(), "a virtual function"));
    if (!machine.virtualMachine()) {
      return;
    }
    String product = machine.facts().host().product();
    found.add("DB-VM-01", "", product.isEmpty() ? "hypervisor flag" : product);
    if (!machine.pair()) {
      return;
    }
    boolean near =
        machine.topology().paths().stream()
            .anyMatch(path -> path.distance().compareTo(PciDistance.PHB) < 0);
    if (!near && machine.facts().variable("NCCL_TOPO_FILE").isEmpty()) {
      found.add("DB-VM-02", "", "no GPU shares a bridge with an HCA");
    }
    for (PciFunction nic : machine.facts().nics()) {
      nic.config()
          .ats()
          .ifPresent(
              on ->
                  found.add(
                      on ? "DB-VM-04" : "DB-VM-03", nic.address(), on ? "ATS on" : "ATS off"));
    }
  }
}
