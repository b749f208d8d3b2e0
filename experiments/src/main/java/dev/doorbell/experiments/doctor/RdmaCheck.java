package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Facts;
import dev.doorbell.experiments.doctor.facts.PciFunction;
import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** RDMA devices, their kernel drivers, and rdma-core. */
final class RdmaCheck implements Check {
  private static final String RDMA_CORE = "https://github.com/linux-rdma/rdma-core (releases)";

  static final Code READY =
      Code.pass(
          "DB-RDMA-01",
          "RDMA devices and rdma-core",
          "/sys/class/infiniband lists devices with a PCI function, each with its node below"
              + " /dev/infiniband, and libibverbs is installed.",
          "Programs can open the devices.");
  static final Code NO_NODE =
      Code.fail(
          "DB-RDMA-02",
          "a device without its uverbs node",
          "The device is in /sys/class/infiniband; the /dev/infiniband/uverbsN that"
              + " /sys/class/infiniband_verbs gives it is not there for this process.",
          "ibv_get_device_list skips the device, or ibv_open_device fails: in a container it was not"
              + " handed in.",
          "start the container with --device=/dev/infiniband (and --cap-add=IPC_LOCK); on a host:"
              + " modprobe ib_uverbs",
          "https://github.com/sgl-project/sglang/issues/12533",
          "https://github.com/microsoft/mscclpp/issues/335");
  static final Code OLD =
      Code.warn(
          "DB-RDMA-03",
          "rdma-core is too old for dma-buf",
          "libibverbs.so.1.X.RELEASE.0 ends in the release of rdma-core; below 34 there is no"
              + " ibv_reg_dmabuf_mr.",
          "GPU memory can be registered through nvidia-peermem alone.",
          "install rdma-core 34 or newer, also inside the container",
          RDMA_CORE);
  static final Code NO_LIBRARY =
      Code.fail(
          "DB-RDMA-04",
          "no libibverbs",
          "RDMA devices are there; no libibverbs.so.1 in the usual library folders.",
          "Libraries that load it at run time (NCCL, NVSHMEM) silently use sockets.",
          "install rdma-core: apt-get install ibverbs-providers, or dnf install libibverbs",
          "https://github.com/deepseek-ai/DeepEP/issues/759");
  static final Code SOFTWARE =
      Code.info(
          "DB-RDMA-05",
          "a software RDMA device",
          "The device has no PCI function (siw, rxe), or a file 'parent', which Soft-RoCE alone has.",
          "It reads host memory by the CPU and cannot reach GPU memory; topology code of some"
              + " libraries fails on it.",
          "",
          "https://github.com/meta-pytorch/torchcomms/pull/2295");
  static final Code NONE =
      Code.absent(
          "DB-RDMA-06",
          "no RDMA device",
          "/sys/class/infiniband is empty or missing, and no NIC of NVIDIA's is on the PCI bus.",
          "The software HCA does the work of one.",
          "");
  static final Code NO_MODULE =
      Code.fail(
          "DB-RDMA-07",
          "a ConnectX NIC that is no RDMA device",
          "A network function of vendor 15b3 is on the PCI bus, and no RDMA device belongs to it.",
          "It is an Ethernet NIC at best.",
          "modprobe mlx5_ib; if that is there already, see dmesg, and check that RoCE is not switched"
              + " off: devlink dev param show pci/ADDRESS name enable_roce");
  static final Code NO_PROVIDER =
      Code.fail(
          "DB-RDMA-08",
          "libibverbs has no driver for mlx5",
          "An mlx5 device is there; no libmlx5 in the libibverbs folder of the usual library"
              + " folders.",
          "ibv_get_device_list prints \"couldn't load driver 'libmlx5-rdmav34.so'\" and lists"
              + " nothing.",
          "install the providers of the same rdma-core: apt-get install ibverbs-providers");

  @Override
  public List<Code> codes() {
    return List.of(READY, NO_NODE, OLD, NO_LIBRARY, SOFTWARE, NONE, NO_MODULE, NO_PROVIDER);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    Facts facts = patient.facts();
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
            found.accept(
                new Finding(
                    NO_MODULE,
                    nic.address(),
                    nic.driver()
                        .map(driver -> "driven by %s, but no RDMA device".formatted(driver))
                        .orElse("no driver has taken it"))));
    facts.rdmaDevices().stream()
        .filter(device -> device.pciAddress().isEmpty())
        .forEach(
            device -> found.accept(new Finding(SOFTWARE, device.name(), "emulated by the CPU")));
    if (hcas.isEmpty()) {
      if (unused.isEmpty()) {
        found.accept(new Finding(NONE, "", "none that is hardware"));
      }
      return;
    }
    boolean nodes = hcas.stream().allMatch(RdmaDevice::uverbsNode);
    hcas.stream()
        .filter(hca -> !hca.uverbsNode())
        .forEach(
            hca ->
                found.accept(new Finding(NO_NODE, hca.name(), "no uverbs node for this process")));
    Optional<Integer> release = facts.libraries().verbs();
    if (release.isEmpty()) {
      found.accept(new Finding(NO_LIBRARY, "", "no libibverbs in the usual folders"));
      return;
    }
    boolean mlx5 = hcas.stream().anyMatch(hca -> mellanox(facts, hca));
    if (mlx5 && !facts.libraries().mlx5Provider()) {
      found.accept(new Finding(NO_PROVIDER, "", "no libmlx5 among libibverbs' drivers"));
    } else if (nodes) {
      found.accept(
          new Finding(
              READY,
              "",
              "%d RDMA device%s, rdma-core %d"
                  .formatted(hcas.size(), hcas.size() == 1 ? "" : "s", release.get())));
    }
    if (release.get() < Case.DMABUF_RDMA_CORE) {
      found.accept(new Finding(OLD, "", "rdma-core %d".formatted(release.get())));
    }
  }

  private static boolean mellanox(Facts facts, RdmaDevice hca) {
    return hca.pciAddress().flatMap(facts::function).filter(PciFunction::mellanoxNic).isPresent();
  }
}
