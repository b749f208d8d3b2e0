package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.Facts;

/** dma-buf: the newer way for an HCA to reach GPU memory, condition by condition. */
final class DmaBufCheck implements Check {
  private static final Code READY = Code.of("DB-DMABUF-01");
  private static final Code KERNEL = Code.of("DB-DMABUF-02");
  private static final Code MODULES = Code.of("DB-DMABUF-03");
  private static final Code LIBRARY = Code.of("DB-DMABUF-04");
  private static final Code OPTION = Code.of("DB-DMABUF-05");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      return;
    }
    Facts facts = machine.facts();
    String kernel = facts.host().kernel();
    if (!facts.host().kernelAtLeast(5, 12)) {
      found.add(KERNEL, "", "kernel " + kernel);
    }
    if (!facts.driver().open()) {
      found.add(MODULES, "", "proprietary kernel modules");
    }
    if (facts
        .libraries()
        .verbs()
        .filter(release -> release >= CheckedMachine.DMABUF_RDMA_CORE)
        .isEmpty()) {
      found.add(
          LIBRARY,
          "",
          facts.libraries().verbs().map(release -> "rdma-core " + release).orElse("no libibverbs"));
    }
    if (machine.dmaBuf()) {
      found.add(
          READY,
          "",
          "kernel %s, open modules, rdma-core %d"
              .formatted(kernel, facts.libraries().verbs().orElseThrow()));
    }
    boolean told = !facts.host().kernelOptions().isEmpty();
    if (told && !"y".equals(facts.host().kernelOptions().get("CONFIG_PCI_P2PDMA"))) {
      found.add(OPTION, "/boot/config-" + kernel, "CONFIG_PCI_P2PDMA is not set");
    }
  }
}
