package dev.doorbell.experiments.doctor;

import java.util.List;
import java.util.function.Consumer;

/** nvidia-peermem: the older way for an HCA to reach GPU memory. */
final class PeerMemoryCheck implements Check {
  private static final String PATHS = "NVIDIA/nccl: src/transport/net_ib/gdr.cc (2.30.7)";
  private static final String MOVED = "https://github.com/NVIDIA/nccl/issues/1676";

  static final Code REGISTERED =
      Code.pass(
          "DB-PEERMEM-01",
          "peer memory is registered",
          "/sys/kernel/mm/memory_peers/nv_mem/version (or nv_mem_nc) is there.",
          "ibv_reg_mr takes GPU addresses.",
          PATHS);
  static final Code NOT_REGISTERED =
      Code.fail(
          "DB-PEERMEM-02",
          "nvidia_peermem is loaded but not registered",
          "/proc/modules lists nvidia_peermem, there is no client of NVIDIA's below"
              + " /sys/kernel/mm/memory_peers, and neither ib_core nor ib_uverbs lists nvidia_peermem"
              + " among its users: it was built without the RDMA core's peer memory interface.",
          "ibv_reg_mr of GPU memory fails with EFAULT (14, Bad address); NCCL, which looks for the"
              + " module alone, believes in GPUDirect RDMA and fails later.",
          "use dma-buf (open kernel modules, kernel 5.12, rdma-core 34); or install the NIC's OFED"
              + " first and then rebuild NVIDIA's driver against it, and load again: modprobe -r"
              + " nvidia_peermem; modprobe nvidia_peermem",
          "https://github.com/NVIDIA/nccl/issues/1537",
          "https://github.com/NVIDIA/nccl/issues/1939",
          PATHS);
  static final Code NOT_NEEDED =
      Code.info(
          "DB-PEERMEM-03",
          "nvidia_peermem is not loaded, and dma-buf does its work",
          "No module, and every condition of dma-buf that files show is met (DB-DMABUF-01).",
          "Libraries that know dma-buf need no peermem; older ones stage through host memory.",
          "for those: modprobe nvidia_peermem");
  static final Code NO_WAY =
      Code.fail(
          "DB-PEERMEM-04",
          "neither peermem nor dma-buf",
          "No peer memory client is registered, and a condition of dma-buf is not met"
              + " (DB-DMABUF-02 to 04 say which).",
          "HCAs cannot register GPU memory: no GPUDirect RDMA, libraries stage through host memory;"
              + " NCCL logs \"GPU Direct RDMA Disabled\".",
          "modprobe nvidia_peermem, and add it to /etc/modules-load.d; or meet the conditions of"
              + " dma-buf",
          "https://github.com/NVIDIA/nccl/issues/1510",
          "https://github.com/deepseek-ai/DeepEP/issues/36");
  static final Code NEW_PATH =
      Code.info(
          "DB-PEERMEM-05",
          "peer memory is registered, under the newer path alone",
          "/sys/module/nvidia_peermem/version is there, /sys/kernel/mm/memory_peers is not, and the"
              + " RDMA core lists nvidia_peermem among its users.",
          "ibv_reg_mr takes GPU addresses. NCCL up to 2.22.3 does not look there and falls back to"
              + " host memory without a word: 180 GB/s became 10 GB/s.",
          "use NCCL 2.23.4 or newer",
          MOVED,
          PATHS);
  static final Code OLD_MODULE =
      Code.warn(
          "DB-PEERMEM-06",
          "the old nv_peer_mem is loaded",
          "/proc/modules lists nv_peer_mem, the module from before driver 470.",
          "It keeps nvidia_peermem from registering, and GPU-initiated libraries refuse it.",
          "uninstall nv_peer_mem (packages nvidia-peer-memory, nvidia-peer-memory-dkms), then modprobe"
              + " nvidia_peermem",
          "https://github.com/deepseek-ai/DeepEP/issues/223",
          "https://github.com/NVIDIA/nccl/issues/988");
  static final Code NOTHING =
      Code.absent(
          "DB-PEERMEM-07",
          "no pair of GPU and HCA",
          "There is no NVIDIA GPU with a driver, or no HCA.",
          "There is nothing between which GPUDirect RDMA could go.",
          "");

  @Override
  public List<Code> codes() {
    return List.of(REGISTERED, NOT_REGISTERED, NOT_NEEDED, NO_WAY, NEW_PATH, OLD_MODULE, NOTHING);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    if (!patient.pair()) {
      found.accept(
          new Finding(
              NOTHING,
              "",
              "%s, %s"
                  .formatted(
                      patient.driver() ? "a GPU" : "no usable GPU",
                      patient.hca() ? "an HCA" : "no HCA")));
      return;
    }
    if (patient.facts().host().loaded("nv_peer_mem")) {
      found.accept(new Finding(OLD_MODULE, "", "nv_peer_mem is loaded"));
    }
    if (patient.oldPathPeerMemory()) {
      found.accept(new Finding(REGISTERED, "", "a peer memory client of NVIDIA's is registered"));
    } else if (patient.newPathPeerMemory()) {
      found.accept(
          new Finding(NEW_PATH, "", "nvidia_peermem is registered; memory_peers does not show it"));
    } else {
      boolean loaded = patient.facts().host().loaded("nvidia_peermem");
      if (loaded) {
        found.accept(
            new Finding(
                NOT_REGISTERED,
                "",
                "nvidia_peermem is loaded, but has not registered with the RDMA core"));
      }
      if (!patient.dmaBuf()) {
        found.accept(new Finding(NO_WAY, "", "no way for an HCA to register GPU memory"));
      } else if (!loaded) {
        found.accept(
            new Finding(NOT_NEEDED, "", "nvidia_peermem is not loaded; dma-buf can be used"));
      }
    }
  }
}
