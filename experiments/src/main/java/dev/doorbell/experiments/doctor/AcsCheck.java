package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Access control services: switches that send peers' traffic up to the root complex. */
final class AcsCheck implements Check {
  private static final String GUIDE =
      "NCCL user guide, troubleshooting: PCI Access Control Services";

  static final Code OFF =
      Code.pass(
          "DB-ACS-01",
          "no switch between GPU and HCA redirects",
          "The ACS control registers of all bridges between a GPU and an HCA have the bits 2 to 4"
              + " (request redirect, completion redirect, upstream forwarding) clear.",
          "Peer-to-peer traffic stays below the switch.",
          GUIDE);
  static final Code ON =
      Code.warn(
          "DB-ACS-02",
          "ACS sends peer-to-peer traffic to the CPU",
          "A bridge between a GPU and an HCA has bit 2, 3 or 4 of its ACS control register set.",
          "What looks like PIX is PHB: lower bandwidth, more latency, and on some platforms a hang.",
          "on bare metal: setpci -s BRIDGE ECAP_ACS+0x6.w=0000 for each bridge named, at each boot;"
              + " or switch ACS (and VT-d or AMD-Vi, which needs it) off in the firmware",
          GUIDE,
          "https://github.com/NVIDIA/nccl/issues/1205");
  static final Code VIRTUAL =
      Code.info(
          "DB-ACS-03",
          "ACS is on, as a virtual machine needs it",
          "As DB-ACS-02, in a virtual machine or for a virtual function.",
          "Isolation depends on it. With ATS on at the NIC translated requests go straight all the"
              + " same.",
          "leave ACS on; see DB-VM-03",
          GUIDE,
          "https://github.com/NVIDIA/nccl/issues/1731");
  static final Code UNREADABLE =
      Code.absent(
          "DB-ACS-04",
          "ACS cannot be read",
          "config of a bridge between GPU and HCA gives 64 bytes: the kernel shows the rest to"
              + " CAP_SYS_ADMIN alone.",
          "Whether a switch redirects cannot be told.",
          "run it once as root: sudo ./doorbell doctor");

  @Override
  public List<Code> codes() {
    return List.of(OFF, ON, VIRTUAL, UNREADABLE);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    List<PciFunction> bridges =
        patient.topology().ways().stream()
            .filter(way -> way.distance().compareTo(Distance.PHB) < 0)
            .flatMap(way -> way.bridges().stream())
            .distinct()
            .sorted()
            .map(patient.facts()::function)
            .flatMap(Optional::stream)
            .toList();
    if (bridges.isEmpty()) {
      return;
    }
    if (bridges.stream().anyMatch(bridge -> !bridge.config().whole())) {
      found.accept(
          new Finding(UNREADABLE, "", "config space of the bridges is out of reach for this user"));
      return;
    }
    List<PciFunction> redirecting =
        bridges.stream().filter(bridge -> bridge.config().redirectsPeers()).toList();
    if (redirecting.isEmpty()) {
      found.accept(
          new Finding(
              OFF,
              "",
              "%d bridges between GPUs and HCAs, none redirects".formatted(bridges.size())));
      return;
    }
    String where = String.join(" ", redirecting.stream().map(PciFunction::address).toList());
    found.accept(
        new Finding(
            patient.virtualMachine() ? VIRTUAL : ON,
            where,
            "ACS control %s"
                .formatted(
                    String.join(
                        " ",
                        redirecting.stream()
                            .map(bridge -> bridge.config().acs().orElse(0))
                            .distinct()
                            .map(control -> "0x%04x".formatted(control))
                            .toList()))));
  }
}
