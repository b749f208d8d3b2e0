package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import java.util.List;
import java.util.Optional;

/** RDMA devices, their kernel drivers, and rdma-core. */
final class RdmaCheck implements Check {
  private static final Code READY = Code.of("DB-RDMA-01");
  private static final Code NO_NODE = Code.of("DB-RDMA-02");
  private static final Code OLD = Code.of("DB-RDMA-03");
  private static final Code NO_LIBRARY = Code.of("DB-RDMA-04");
  private static final Code SOFTWARE = Code.of("DB-RDMA-05");
  private static final Code NONE = Code.of("DB-RDMA-06");
  private static final Code NO_MODULE = Code.of("DB-RDMA-07");
  private static final Code NO_PROVIDER = Code.of("DB-RDMA-08");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
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
                NO_MODULE,
                nic.address(),
                nic.driver()
                    .map(driver -> "driven by %s, but no RDMA device".formatted(driver))
                    .orElse("no driver has taken it")));
    facts.rdmaDevices().stream()
        .filter(device -> device.pciAddress().isEmpty())
        .forEach(device -> found.add(SOFTWARE, device.name(), "emulated by the CPU"));
    if (hcas.isEmpty()) {
      if (unused.isEmpty()) {
        found.add(NONE, "", "none that is hardware");
      }
      return;
    }
    boolean nodes = hcas.stream().allMatch(RdmaDevice::uverbsNode);
    hcas.stream()
        .filter(hca -> !hca.uverbsNode())
        .forEach(hca -> found.add(NO_NODE, hca.name(), "no uverbs node for this process"));
    Optional<Integer> release = facts.libraries().verbs();
    if (release.isEmpty()) {
      found.add(NO_LIBRARY, "", "no libibverbs in the usual folders");
      return;
    }
    boolean mlx5 = hcas.stream().anyMatch(hca -> mellanox(facts, hca));
    if (mlx5 && !facts.libraries().mlx5Provider()) {
      found.add(NO_PROVIDER, "", "no libmlx5 among libibverbs' drivers");
    } else if (nodes) {
      found.add(
          READY,
          "",
          "%d RDMA device%s, rdma-core %d"
              .formatted(hcas.size(), hcas.size() == 1 ? "" : "s", release.get()));
    }
    if (release.get() < CheckedMachine.DMABUF_RDMA_CORE) {
      found.add(OLD, "", "rdma-core %d".formatted(release.get()));
    }
  }

  private static boolean mellanox(Facts facts, RdmaDevice hca) {
    return hca.pciAddress().flatMap(facts::function).filter(PciFunction::mellanoxNic).isPresent();
  }
}
