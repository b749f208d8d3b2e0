package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.doctor.topology.PciTopology;

/** Distance of each GPU from its nearest HCA. */
final class TopologyCheck implements Check {
  private static final Code NEAR = Code.of("DB-TOPO-01");
  private static final Code HOST_BRIDGE = Code.of("DB-TOPO-02");
  private static final Code NODE = Code.of("DB-TOPO-03");
  private static final Code SYSTEM = Code.of("DB-TOPO-04");
  private static final Code UNKNOWN_NODE = Code.of("DB-TOPO-05");
  private static final Code CLIENT_CPU = Code.of("DB-TOPO-06");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    boolean throughHost = false;
    for (PciFunction gpu : machine.facts().gpus()) {
      PciTopology.Path path = machine.topology().nearest(gpu).orElse(null);
      if (path == null) {
        continue;
      }
      PciDistance distance = path.distance();
      throughHost |= distance == PciDistance.PHB;
      Code code =
          switch (distance) {
            case PIX, PXB -> NEAR;
            case PHB -> HOST_BRIDGE;
            case NODE -> NODE;
            case SYS -> SYSTEM;
          };
      if (machine.virtualMachine() && code.verdict() == CheckVerdict.WARN) {
        continue; // DB-VM-02 says what a virtual machine's tree is worth
      }
      found.add(code, gpu.address(), "%s to %s".formatted(distance, path.hca().name()));
    }
    if (machine.facts().host().numaNodes() > 1 && machine.pair()) {
      machine.ends().stream()
          .filter(end -> end.numaNode() < 0)
          .forEach(end -> found.add(UNKNOWN_NODE, end.address(), "numa_node is -1"));
    }
    if (throughHost && machine.facts().host().cpuModel().contains("Intel(R) Core")) {
      found.add(CLIENT_CPU, "", machine.facts().host().cpuModel());
    }
  }
}
