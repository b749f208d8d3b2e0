package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Facts;
import java.util.List;
import java.util.function.Consumer;

/** dma-buf: the newer way for an HCA to reach GPU memory, condition by condition. */
final class DmaBufCheck implements Check {
  static final Code READY =
      Code.pass(
          "DB-DMABUF-01",
          "dma-buf can be used",
          "Kernel 5.12 or newer, open kernel modules, rdma-core 34 or newer. What the GPU itself says"
              + " (CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) is not asked.",
          "HCAs can register GPU memory without a peer memory module.",
          "NVIDIA/nccl: src/transport/net_ib/gdr.cc (2.30.7)");
  static final Code KERNEL =
      Code.info(
          "DB-DMABUF-02",
          "the kernel is too old for dma-buf",
          "/proc/sys/kernel/osrelease is below 5.12, where RDMA learned to register dma-bufs.",
          "ibv_reg_dmabuf_mr fails with EOPNOTSUPP. Vendors' kernels may have it all the same:"
              + " NCCL_DEBUG=INFO then says \"DMA-BUF is available\".",
          "use nvidia-peermem, or a newer kernel",
          "https://github.com/NVIDIA/nvshmem/issues/67");
  static final Code MODULES =
      Code.info(
          "DB-DMABUF-03",
          "the proprietary modules export no dma-buf",
          "/proc/driver/nvidia/version does not say \"Open Kernel Module\".",
          "cuMemGetHandleForAddressRange fails, and the attribute DMA_BUF_SUPPORTED is 0.",
          "use nvidia-peermem, or the open flavour of the driver",
          "https://github.com/microsoft/mscclpp/issues/657");
  static final Code LIBRARY =
      Code.info(
          "DB-DMABUF-04",
          "rdma-core has no dma-buf",
          "libibverbs is missing or of a release below 34.",
          "There is no ibv_reg_dmabuf_mr to call.",
          "install rdma-core 34 or newer");
  static final Code OPTION =
      Code.info(
          "DB-DMABUF-05",
          "the kernel is built without P2P DMA",
          "/boot/config-RELEASE has no CONFIG_PCI_P2PDMA=y.",
          "Where other conditions are met the kernel may still refuse to map a GPU's BAR for a NIC.",
          "use a distribution's kernel with CONFIG_PCI_P2PDMA=y and CONFIG_DMABUF_MOVE_NOTIFY=y");

  @Override
  public List<Code> codes() {
    return List.of(READY, KERNEL, MODULES, LIBRARY, OPTION);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    if (!patient.pair()) {
      return;
    }
    Facts facts = patient.facts();
    String kernel = facts.host().kernel();
    if (!facts.host().kernelAtLeast(5, 12)) {
      found.accept(new Finding(KERNEL, "", "kernel " + kernel));
    }
    if (!facts.driver().open()) {
      found.accept(new Finding(MODULES, "", "proprietary kernel modules"));
    }
    if (facts.libraries().verbs().filter(release -> release >= Case.DMABUF_RDMA_CORE).isEmpty()) {
      found.accept(
          new Finding(
              LIBRARY,
              "",
              facts
                  .libraries()
                  .verbs()
                  .map(release -> "rdma-core " + release)
                  .orElse("no libibverbs")));
    }
    if (patient.dmaBuf()) {
      found.accept(
          new Finding(
              READY,
              "",
              "kernel %s, open modules, rdma-core %d"
                  .formatted(kernel, facts.libraries().verbs().orElseThrow())));
    }
    boolean told = !facts.host().kernelOptions().isEmpty();
    if (told && !"y".equals(facts.host().kernelOptions().get("CONFIG_PCI_P2PDMA"))) {
      found.accept(new Finding(OPTION, "/boot/config-" + kernel, "CONFIG_PCI_P2PDMA is not set"));
    }
  }
}
