package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.topology.PciDistance;
import java.util.List;
import java.util.Optional;

/** Access control services: switches that send peers' traffic up to the root complex. */
final class AcsCheck implements Check {
  private static final Code OFF = Code.of("DB-ACS-01");
  private static final Code ON = Code.of("DB-ACS-02");
  private static final Code VIRTUAL = Code.of("DB-ACS-03");
  private static final Code UNREADABLE = Code.of("DB-ACS-04");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
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
      found.add(UNREADABLE, "", "config space of the bridges is out of reach for this user");
      return;
    }
    List<PciFunction> redirecting =
        bridges.stream().filter(bridge -> bridge.config().redirectsPeers()).toList();
    if (redirecting.isEmpty()) {
      found.add(
          OFF, "", "%d bridges between GPUs and HCAs, none redirects".formatted(bridges.size()));
      return;
    }
    String where = String.join(" ", redirecting.stream().map(PciFunction::address).toList());
    found.add(
        machine.virtualMachine() ? VIRTUAL : ON,
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
}
