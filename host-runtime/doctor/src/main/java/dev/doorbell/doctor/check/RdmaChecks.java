package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import java.util.List;
import java.util.Optional;

/** RDMA devices and their ports: states, GIDs, MTU. */
final class RdmaChecks {
  private static final int LARGEST = 4096;

  private RdmaChecks() {}

  /** RDMA devices, their kernel drivers, and rdma-core. */
  static void devices(CheckedMachine machine, CheckResults found) {
    Facts facts = machine.facts();
    List<RdmaDevice> hcas = facts.hcas();
    List<PciFunction> unused =
        facts.functions().stream()
            .filter(PciFunction::mellanoxNic)
            .filter(
                nic ->
                    hcas.stream()
                        .noneMatch(hca -> hca.pciAddress().equals(Optional.of(nic.address()))))
            .toList();
    unused.forEach(
        nic ->
            found.add(
                "DB-RDMA-07",
                nic.address(),
                nic.driver()
                    .map(driver -> "driven by %s, but no RDMA device".formatted(driver))
                    .orElse("no driver has taken it")));
    facts.rdmaDevices().stream()
        .filter(device -> device.pciAddress().isEmpty())
        .forEach(device -> found.add("DB-RDMA-05", device.name(), "emulated by the CPU"));
    if (hcas.isEmpty()) {
      if (unused.isEmpty()) {
        found.add("DB-RDMA-06", "", "none that is hardware");
      }
      return;
    }
    boolean nodes = hcas.stream().allMatch(RdmaDevice::uverbsNode);
    hcas.stream()
        .filter(hca -> !hca.uverbsNode())
        .forEach(hca -> found.add("DB-RDMA-02", hca.name(), "no uverbs node for this process"));
    Optional<Integer> release = facts.libraries().verbs();
    if (release.isEmpty()) {
      found.add("DB-RDMA-04", "", "no libibverbs in the usual folders");
      return;
    }
    boolean mlx5 = hcas.stream().anyMatch(hca -> mellanox(facts, hca));
    if (mlx5 && !facts.libraries().mlx5Provider()) {
      found.add("DB-RDMA-08", "", "no libmlx5 among libibverbs' drivers");
    } else if (nodes) {
      found.add(
          "DB-RDMA-01",
          "",
          "%d RDMA device%s, rdma-core %d"
              .formatted(hcas.size(), hcas.size() == 1 ? "" : "s", release.get()));
    }
    if (release.get() < CheckedMachine.DMABUF_RDMA_CORE) {
      found.add("DB-RDMA-03", "", "rdma-core %d".formatted(release.get()));
    }
  }

  private static boolean mellanox(Facts facts, RdmaDevice hca) {
    return hca.pciAddress().flatMap(facts::function).filter(PciFunction::mellanoxNic).isPresent();
  }

  /** States of the HCAs' ports, and the class that their traffic goes in. */
  static void ports(CheckedMachine machine, CheckResults found) {
    List<RdmaDevice> hcas = machine.facts().hcas();
    if (hcas.isEmpty()) {
      return;
    }
    boolean any = false;
    boolean all = true;
    for (RdmaDevice hca : hcas) {
      for (RdmaPort port : hca.ports()) {
        any |= port.active();
        all &= port.active();
      }
    }
    if (!any) {
      found.add("DB-PORT-03", "", "no port of %d HCAs is active".formatted(hcas.size()));
    }
    for (RdmaDevice hca : hcas) {
      hca.ports().forEach(port -> manager(hca, port, found));
      hca.trafficClass()
          .filter(trafficClass -> trafficClass > 0)
          .filter(
              trafficClass ->
                  machine.facts().variable("NCCL_IB_TC").isEmpty()
                      && machine.facts().variable("NVSHMEM_IB_TRAFFIC_CLASS").isEmpty())
          .ifPresent(
              trafficClass -> found.add("DB-PORT-05", hca.name(), "traffic class " + trafficClass));
    }
    if (any && all) {
      found.add(
          "DB-PORT-01",
          "",
          "%d in all".formatted(hcas.stream().mapToInt(hca -> hca.ports().size()).sum()));
    } else if (any) {
      for (RdmaDevice hca : hcas) {
        for (RdmaPort port : hca.ports()) {
          if (!port.active() && !waits(port)) {
            found.add("DB-PORT-02", hca.name() + ":" + port.number(), "state " + port.state());
          }
        }
      }
    }
  }

  private static void manager(RdmaDevice hca, RdmaPort port, CheckResults found) {
    if (waits(port) || (port.active() && !port.ethernet() && port.lid() == 0)) {
      found.add(
          "DB-PORT-04",
          hca.name() + ":" + port.number(),
          "state %s, LID %d".formatted(port.state(), port.lid()));
    }
  }

  private static boolean waits(RdmaPort port) {
    return !port.ethernet() && (port.state().equals("INIT") || port.state().equals("ARMED"));
  }

  /** GID tables of Ethernet ports, and the index that a variable points to. */
  static void gids(CheckedMachine machine, CheckResults found) {
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
    Optional<RdmaPort.GidEntry> best = port.defaultGid();
    if (best.isPresent()) {
      found.add(
          "DB-GID-01",
          where,
          "GID %d, %s".formatted(best.get().index(), best.get().ipv4() ? "IPv4" : "IPv6"));
    } else if (port.gids().stream().anyMatch(RdmaPort.GidEntry::version2)) {
      found.add("DB-GID-03", where, "only fe80:: addresses");
    } else {
      found.add("DB-GID-02", where, "%d GIDs, none RoCE v2".formatted(port.gids().size()));
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
          "DB-GID-04",
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

  /** RDMA MTU of RoCE ports. */
  static void mtu(CheckedMachine machine, CheckResults found) {
    for (RdmaDevice hca : machine.facts().hcas()) {
      for (RdmaPort port : hca.ports()) {
        if (port.active() && port.mtu() > 0) {
          found.add(
              port.mtu() == LARGEST ? "DB-MTU-01" : "DB-MTU-02",
              hca.name() + ":" + port.number(),
              "%d (%s has %d)".formatted(port.mtu(), port.netdev().orElse(""), port.netdevMtu()));
        }
      }
    }
  }
}
