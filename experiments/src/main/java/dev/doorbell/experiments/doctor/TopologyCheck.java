package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.function.Consumer;

/** How far each GPU is from its nearest HCA. */
final class TopologyCheck implements Check {
  private static final String READS =
      "https://stackoverflow.com/questions/59277346 (EPYC: P2P read 6.1 GB/s, write 14.3 GB/s)";
  private static final String GUIDE = "NVIDIA GPUDirect RDMA guide, supported systems";

  static final Code NEAR =
      Code.pass(
          "DB-TOPO-01",
          "an HCA under the GPU's own switch",
          "The paths of /sys/bus/pci/devices share a bridge: PIX with one switch between, PXB with"
              + " more.",
          "Payload never touches the CPU.",
          GUIDE);
  static final Code HOST_BRIDGE =
      Code.warn(
          "DB-TOPO-02",
          "the nearest HCA is behind the host bridge",
          "The paths share the root bus alone: PHB.",
          "Peer-to-peer reads through a CPU are slower than writes, on some CPUs by half; NCCL does"
              + " not use GPUDirect RDMA beyond PXB unless told to.",
          "put GPU and NIC under one switch; or measure pull against push here and set"
              + " NCCL_NET_GDR_LEVEL=PHB if it helps",
          GUIDE,
          READS);
  static final Code NODE =
      Code.warn(
          "DB-TOPO-03",
          "the nearest HCA is behind another host bridge",
          "The root buses differ, the NUMA node is the same: NODE.",
          "As DB-TOPO-02, with one more host bridge.",
          "put GPU and NIC under one switch, or at least one root complex",
          GUIDE);
  static final Code SYSTEM =
      Code.warn(
          "DB-TOPO-04",
          "the nearest HCA is across sockets",
          "The root buses differ and so do the NUMA nodes: SYS.",
          "Peer-to-peer traffic crosses the link between the sockets, where reads may fall below"
              + " 1 GB/s; NCCL stages through host memory.",
          "move the NIC to a slot of the GPU's socket; do not force it with NCCL_NET_GDR_LEVEL=SYS"
              + " before you have measured",
          "https://github.com/linux-rdma/perftest/issues/241",
          GUIDE);
  static final Code UNKNOWN_NODE =
      Code.info(
          "DB-TOPO-05",
          "the firmware does not say which NUMA node a device is at",
          "numa_node of the PCI function is -1 on a machine with several nodes.",
          "NODE and SYS cannot be told apart, and libraries pin threads at random.",
          "update the firmware, or see lstopo and the board's manual");
  static final Code CLIENT_CPU =
      Code.warn(
          "DB-TOPO-06",
          "a client CPU between GPU and HCA",
          "The way leads through the host bridge, and the CPU is an Intel Core.",
          "Root complexes of client CPUs route peer-to-peer writes, not reads: receiving into GPU"
              + " memory works, sending from it ends in an error CQE. Push is a write and passes.",
          "put GPU and NIC under one switch, use a server CPU, or stage through host memory",
          "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1253");

  @Override
  public List<Code> codes() {
    return List.of(NEAR, HOST_BRIDGE, NODE, SYSTEM, UNKNOWN_NODE, CLIENT_CPU);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    boolean throughHost = false;
    for (PciFunction gpu : patient.facts().gpus()) {
      Topology.Way way = patient.topology().nearest(gpu).orElse(null);
      if (way == null) {
        continue;
      }
      Distance distance = way.distance();
      throughHost |= distance == Distance.PHB;
      Code code =
          switch (distance) {
            case PIX, PXB -> NEAR;
            case PHB -> HOST_BRIDGE;
            case NODE -> NODE;
            case SYS -> SYSTEM;
          };
      if (patient.virtualMachine() && code.verdict() == Verdict.WARN) {
        continue; // DB-VM-02 says what a virtual machine's tree is worth
      }
      found.accept(
          new Finding(code, gpu.address(), "%s to %s".formatted(distance, way.hca().name())));
    }
    if (patient.facts().host().numaNodes() > 1 && patient.pair()) {
      patient.ends().stream()
          .filter(end -> end.numaNode() < 0)
          .forEach(
              end -> found.accept(new Finding(UNKNOWN_NODE, end.address(), "numa_node is -1")));
    }
    if (throughHost && patient.facts().host().cpuModel().contains("Intel(R) Core")) {
      found.accept(new Finding(CLIENT_CPU, "", patient.facts().host().cpuModel()));
    }
  }
}
