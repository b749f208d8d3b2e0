package dev.doorbell.experiments.doctor.log;

import static dev.doorbell.experiments.doctor.log.LogPatterns.add;

import java.util.List;

/** Lines of NVSHMEM. */
final class NvshmemPatterns {
  private static final String NVSHMEM = "NVSHMEM";
  private static final String NCCL_ISSUES = "https://github.com/NVIDIA/nccl/issues/";
  private static final String NVSHMEM_ISSUES = "https://github.com/NVIDIA/nvshmem/issues/";
  private static final String DEEP_EP = "https://github.com/deepseek-ai/DeepEP/issues/";
  private static final String IBGDA = "NVIDIA/nvshmem 3.5.1: src/modules/transport/ibgda/ibgda.cpp";

  private NvshmemPatterns() {}

  static void addTo(List<LogPattern> patterns) {
    nvshmem(patterns);
    nvshmemSetup(patterns);
  }

  /** What stands between NVSHMEM's kernels and the NIC. */
  private static void nvshmem(List<LogPattern> to) {
    add(
        to,
        60,
        NVSHMEM,
        "cudaHostRegister with IoMemory failed with error=800",
        "The driver does not let the GPU map the NIC's doorbell page: the CPU will ring, or the device"
            + " is skipped.",
        "set PeerMappingOverride=1 among the nvidia module's RegistryDwords and reboot; or NVSHMEM 3.4.5"
            + " and newer, whose CPU-assisted mode goes without",
        "DB-NVREG-02",
        DEEP_EP + 163,
        DEEP_EP + 139,
        NVSHMEM_ISSUES + 34);
    add(
        to,
        61,
        NVSHMEM,
        "GPU cannot map UAR of device|ibgda_nic_mem_gpu_map failed|ibgda_alloc_and_map_qp_uar",
        "As DB-LOG-60, a step later.",
        "see DB-LOG-60",
        "DB-NVREG-02",
        DEEP_EP + 163);
    add(
        to,
        62,
        NVSHMEM,
        "cannot allocate buffer on the specified memory type",
        "The queue's memory, on the GPU, could not be registered with DEVX: no peermem, the old"
            + " nv_peer_mem, or no dma-buf.",
        "modprobe nvidia_peermem; NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE=hostmem goes without",
        "DB-PEERMEM-02 DB-PEERMEM-04 DB-PEERMEM-06",
        NVSHMEM_ISSUES + 51,
        DEEP_EP + 36,
        DEEP_EP + 223);
    add(
        to,
        63,
        NVSHMEM,
        "neither nv_peer_mem,? (or|nor) nvidia_peermem detected",
        "NVSHMEM found neither file by which peermem shows itself. Versions before the middle of 2025 do"
            + " not look at /sys/module/nvidia_peermem.",
        "modprobe nvidia_peermem; update NVSHMEM",
        "DB-PEERMEM-04 DB-PEERMEM-05",
        "https://github.com/deepseek-ai/DeepEP/pull/151",
        DEEP_EP + 55);
    add(
        to,
        64,
        NVSHMEM,
        "mlx5dv_devx_umem_reg|cannot register (wq|cq|dbr) buf",
        "A queue's memory could not be registered with DEVX.",
        "as DB-LOG-62",
        "DB-PEERMEM-02 DB-PEERMEM-04",
        NVSHMEM_ISSUES + 67,
        IBGDA);
    add(
        to,
        65,
        NVSHMEM,
        "does not support registering the NIC control buffers with DMABUF",
        "Data goes by dma-buf, queues by peermem. That is no error.",
        "",
        "DB-PEERMEM-01",
        NVSHMEM_ISSUES + 67);
    add(
        to,
        66,
        NVSHMEM,
        "Unable to create ah",
        "ibv_create_ah failed with EINVAL on RoCE: an attribute was left unset in some versions, or the"
            + " GID index is wrong.",
        "update NVSHMEM; leave NVSHMEM_IB_GID_INDEX out",
        "DB-GID-04",
        NVSHMEM_ISSUES + 21,
        NVSHMEM_ISSUES + 33);
    add(
        to,
        67,
        NVSHMEM,
        "PCI_ATOMIC_MODE",
        "The NIC does not offer the atomics that NVSHMEM wants, because of how the firmware is set.",
        "mlxconfig -d DEVICE set PCI_ATOMIC_MODE=4 and reset; mode 4 uses PCIe atomics, which must not be"
            + " mixed with relaxed ordering for signals",
        "DB-ORDER-02",
        IBGDA,
        NCCL_ISSUES + 2210);
  }

  private static void nvshmemSetup(List<LogPattern> to) {
    add(
        to,
        70,
        NVSHMEM,
        "is not enumerated as an mlx5 device|expected HCA interface",
        "NVSHMEM's GPU-initiated transport takes mlx5 devices alone, and some versions go by names.",
        "NVSHMEM_HCA_PREFIX for renamed devices; other vendors' NICs need the proxy transport",
        "DB-ENV-09",
        DEEP_EP + 759,
        IBGDA);
    add(
        to,
        71,
        NVSHMEM,
        "no active IB device that supports GPU-initiated communication",
        "Every device was skipped; the lines above say why for each.",
        "mend the first of them",
        "DB-PEERMEM-04 DB-NVREG-02",
        NVSHMEM_ISSUES + 51);
    add(
        to,
        72,
        NVSHMEM,
        "init failed for transport: ",
        "A transport gave up; the lines above say why.",
        "mend those, or choose another with NVSHMEM_REMOTE_TRANSPORT",
        "",
        DEEP_EP + 128);
    add(
        to,
        73,
        NVSHMEM,
        "ib_roce_get_version_num",
        "An empty entry of the GID table was read. Harmless, if a GID is found in the end.",
        "",
        "DB-GID-01",
        "https://github.com/NVIDIA/multi-gpu-programming-models/issues/17");
    add(
        to,
        74,
        NVSHMEM,
        "ibv_dealloc_pd failed",
        "Something made on the protection domain is still there when the program ends.",
        "harmless at the end of a program; reported against 3.5.19",
        "",
        NVSHMEM_ISSUES + 81);
    add(
        to,
        75,
        NVSHMEM,
        "Mapping mem size \\d+ to MC group|cuMemMap failed to map \\d+ bytes",
        "Multicast memory could not be mapped: the NVLink fabric's state is out of step.",
        "NVSHMEM_DISABLE_NVLS=1; restart nvidia-fabricmanager with no job running",
        "",
        NVSHMEM_ISSUES + 40);
    add(
        to,
        76,
        NVSHMEM,
        "NIC_HANDLER=cpu requires GDRCopy|GDRCopy (library not found|open call failed)",
        "GDRCopy is missing; CPU-assisted modes of older versions need it.",
        "install gdrcopy and load gdrdrv, or use NVSHMEM 3.4.5 and newer",
        "",
        NVSHMEM_ISSUES + 7,
        IBGDA);
    add(
        to,
        77,
        NVSHMEM,
        "conflicting parameters NVSHMEM_HCA_LIST and NVSHMEM_HCA_PE_MAPPING",
        "Both variables are set; one of them is ignored.",
        "set one",
        "DB-ENV-07",
        IBGDA);
    add(
        to,
        78,
        NVSHMEM,
        "Unable to dlopen lib(ibverbs|mlx5)",
        "rdma-core is missing in this container or host.",
        "install rdma-core and its providers",
        "DB-RDMA-04 DB-RDMA-08",
        IBGDA);
    add(
        to,
        79,
        NVSHMEM,
        "found inactive port",
        "A port that is down was passed over.",
        "bring it up, or leave it out of NVSHMEM_HCA_LIST",
        "DB-PORT-02",
        IBGDA);
  }
}
