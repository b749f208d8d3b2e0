package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PortGid;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import java.util.Optional;

/** GID tables of Ethernet ports, and the index that a variable points to. */
final class GidCheck implements Check {
  private static final Code ROUTABLE = Code.of("DB-GID-01");
  private static final Code NO_VERSION_2 = Code.of("DB-GID-02");
  private static final Code LINK_LOCAL = Code.of("DB-GID-03");
  private static final Code BAD_INDEX = Code.of("DB-GID-04");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    for (RdmaDevice hca : machine.facts().hcas()) {
      for (RdmaPort port : hca.ports()) {
        if (port.active() && port.ethernet()) {
          String where = hca.name() + ":" + port.number();
          table(where, port, found);
          index(machine, where, port, "NCCL_IB_GID_INDEX", found);
          index(machine, where, port, "NVSHMEM_IB_GID_INDEX", found);
        }
      }
    }
  }

  private static void table(String where, RdmaPort port, CheckResults found) {
    Optional<PortGid> best = port.defaultGid();
    if (best.isPresent()) {
      found.add(
          ROUTABLE,
          where,
          "GID %d, %s".formatted(best.get().index(), best.get().ipv4() ? "IPv4" : "IPv6"));
    } else if (port.gids().stream().anyMatch(PortGid::version2)) {
      found.add(LINK_LOCAL, where, "only fe80:: addresses");
    } else {
      found.add(NO_VERSION_2, where, "%d GIDs, none RoCE v2".formatted(port.gids().size()));
    }
  }

  private static void index(
      CheckedMachine machine, String where, RdmaPort port, String variable, CheckResults found) {
    String text = machine.facts().variable(variable).orElse("-1");
    if (!text.matches("\\d{1,4}")) {
      return;
    }
    int index = Integer.parseInt(text);
    if (port.gids().stream().noneMatch(gid -> gid.index() == index && gid.version2())) {
      found.add(
          BAD_INDEX,
          where,
          "%s=%d; %s"
              .formatted(
                  variable,
                  index,
                  port.defaultGid()
                      .map(gid -> "index %d would do".formatted(gid.index()))
                      .orElse("no index would do")));
    }
  }
}
