package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Gid;
import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import dev.doorbell.experiments.doctor.facts.RdmaPort;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** GID tables of Ethernet ports, and the index that a variable points to. */
final class GidCheck implements Check {
  private static final String TABLE = "gids and gid_attrs/types of the port in sysfs.";
  private static final String RANKING = "https://github.com/NVIDIA/nccl/issues/890";

  static final Code ROUTABLE =
      Code.pass(
          "DB-GID-01",
          "a RoCE v2 GID with a routable address",
          TABLE,
          "Queue pairs can connect across subnets.",
          RANKING);
  static final Code NO_VERSION_2 =
      Code.fail(
          "DB-GID-02",
          "no RoCE v2 GID",
          TABLE,
          "NCCL and NVSHMEM ask for version 2 and find none; version 1 does not cross a router and"
              + " DEVX queue pairs made for it do not connect.",
          "give the interface an address (ip addr add), and allow version 2: echo 'RoCE v2' >"
              + " /sys/kernel/config/rdma_cm/DEVICE/ports/1/default_roce_mode",
          "https://github.com/NVIDIA/nccl/issues/394");
  static final Code LINK_LOCAL =
      Code.warn(
          "DB-GID-03",
          "only link-local RoCE v2 GIDs",
          TABLE,
          "They reach the same link alone; a peer behind a router ends in \"Network is"
              + " unreachable\" at RTR or in exceeded retries.",
          "give the interface an IPv4 or a global IPv6 address");
  static final Code BAD_INDEX =
      Code.fail(
          "DB-GID-04",
          "the GID index that is asked for is empty or not RoCE v2",
          "NCCL_IB_GID_INDEX or NVSHMEM_IB_GID_INDEX against the table of each active Ethernet port.",
          "ibv_modify_qp to RTR fails with EINVAL (22), or with ETIMEDOUT (110), or packets go out as"
              + " RoCE v1 and nothing answers.",
          "leave the variable out: NCCL 2.21 and newer find the GID themselves; or use the index that"
              + " this line names",
          "NVIDIA/nccl: src/misc/ibvwrap.cc (2.30.7)",
          RANKING);

  @Override
  public List<Code> codes() {
    return List.of(ROUTABLE, NO_VERSION_2, LINK_LOCAL, BAD_INDEX);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    for (RdmaDevice hca : patient.facts().hcas()) {
      for (RdmaPort port : hca.ports()) {
        if (port.active() && port.ethernet()) {
          String where = hca.name() + ":" + port.number();
          table(where, port, found);
          index(patient, where, port, "NCCL_IB_GID_INDEX", found);
          index(patient, where, port, "NVSHMEM_IB_GID_INDEX", found);
        }
      }
    }
  }

  private static void table(String where, RdmaPort port, Consumer<Finding> found) {
    Optional<Gid> best = Case.best(port.gids());
    if (best.isPresent()) {
      found.accept(
          new Finding(
              ROUTABLE,
              where,
              "GID %d, %s".formatted(best.get().index(), best.get().ipv4() ? "IPv4" : "IPv6")));
    } else if (port.gids().stream().anyMatch(Gid::version2)) {
      found.accept(new Finding(LINK_LOCAL, where, "only fe80:: addresses"));
    } else {
      found.accept(
          new Finding(NO_VERSION_2, where, "%d GIDs, none RoCE v2".formatted(port.gids().size())));
    }
  }

  private static void index(
      Case patient, String where, RdmaPort port, String variable, Consumer<Finding> found) {
    String text = patient.facts().variable(variable).orElse("-1");
    if (!text.matches("\\d{1,4}")) {
      return;
    }
    int index = Integer.parseInt(text);
    if (port.gids().stream().noneMatch(gid -> gid.index() == index && gid.version2())) {
      found.accept(
          new Finding(
              BAD_INDEX,
              where,
              "%s=%d; %s"
                  .formatted(
                      variable,
                      index,
                      Case.best(port.gids())
                          .map(gid -> "index %d would do".formatted(gid.index()))
                          .orElse("no index would do"))));
    }
  }
}
