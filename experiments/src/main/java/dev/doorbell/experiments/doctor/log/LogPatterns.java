package dev.doorbell.experiments.doctor.log;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The lines that are known, the more telling before the more general. Numbers stay; new ones are
 * added at the end of their library.
 */
final class LogPatterns {
  private static final String NCCL = "NCCL";
  private static final String NVSHMEM = "NVSHMEM";
  private static final String UCX = "UCX";

  private static final String NCCL_ISSUES = "https://github.com/NVIDIA/nccl/issues/";
  private static final String NCCL_TESTS = "https://github.com/NVIDIA/nccl-tests/issues/";
  private static final String NVSHMEM_ISSUES = "https://github.com/NVIDIA/nvshmem/issues/";
  private static final String DEEP_EP = "https://github.com/deepseek-ai/DeepEP/issues/";
  private static final String NCCL_SOURCE = "NVIDIA/nccl 2.30.7: src/";
  private static final String IBGDA = "NVIDIA/nvshmem 3.5.1: src/modules/transport/ibgda/ibgda.cpp";

  static final List<LogPattern> ALL = all();

  private LogPatterns() {}

  private static List<LogPattern> all() {
    List<LogPattern> patterns = new ArrayList<>();
    directAccess(patterns);
    completions(patterns);
    events(patterns);
    calls(patterns);
    surroundings(patterns);
    nvshmem(patterns);
    nvshmemSetup(patterns);
    return List.copyOf(patterns);
  }

  private static void add(
      List<LogPattern> to,
      int number,
      String library,
      String regex,
      String meaning,
      String fix,
      String checks,
      String... sources) {
    to.add(
        new LogPattern(
            "DB-LOG-%02d".formatted(number),
            library,
            Pattern.compile(regex),
            meaning,
            fix,
            checks.isEmpty() ? List.of() : List.of(checks.split(" ", -1)),
            Arrays.asList(sources)));
  }

  /** Whether payload goes straight between NIC and GPU. */
  private static void directAccess(List<LogPattern> to) {
    add(
        to,
        1,
        NCCL,
        "GPU Direct RDMA Disabled",
        "NCCL found none of the files by which peermem shows itself, and no dma-buf: payload is"
            + " copied through host memory.",
        "load nvidia_peermem or meet the conditions of dma-buf; with NCCL up to 2.22.3 on a newer"
            + " kernel update NCCL",
        "DB-PEERMEM-02 DB-PEERMEM-04 DB-PEERMEM-05",
        NCCL_ISSUES + 1537,
        NCCL_ISSUES + 1676);
    add(
        to,
        2,
        NCCL,
        "GPU Direct RDMA (\\([^)]*\\) )?[Ee]nabled?|DMA-BUF is available",
        "GPUDirect RDMA is possible; whether a channel uses it is said by its own line"
            + " (\"via NET/IB/0/GDRDMA\").",
        "",
        "DB-PEERMEM-01 DB-DMABUF-01",
        NCCL_SOURCE + "init.cc");
    add(
        to,
        3,
        NCCL,
        "via NET/IB[^ ]*/GDRDMA",
        "This channel really uses GPUDirect RDMA.",
        "",
        "DB-TOPO-01",
        "https://github.com/Mellanox/nv_peer_memory/issues/56");
    add(
        to,
        4,
        NCCL,
        "via NET/IB",
        "This channel goes through host memory, though the network is RDMA: GPUDirect RDMA is off, or"
            + " the NIC is farther than NCCL_NET_GDR_LEVEL allows (PXB).",
        "look at the distances the doctor prints, and at the lines about GPU Direct RDMA",
        "DB-TOPO-02 DB-TOPO-04 DB-PEERMEM-04",
        NCCL_ISSUES + 1737);
    add(
        to,
        5,
        NCCL,
        "NET/IB : No device found",
        "libibverbs listed no device with an active port that NCCL_IB_HCA allows.",
        "hand /dev/infiniband to the container, bring a port up, and look at NCCL_IB_HCA",
        "DB-RDMA-02 DB-PORT-03 DB-ENV-07",
        NCCL_ISSUES + 952,
        NCCL_ISSUES + 941);
    add(
        to,
        6,
        NCCL,
        "Using network Socket|via NET/Socket",
        "NCCL uses TCP: a tenth of the bandwidth at best.",
        "find out why RDMA was not chosen: look for NET/IB lines above this one",
        "DB-RDMA-01 DB-ENV-06",
        NCCL_ISSUES + 941);
  }

  /** Work completions in error, by their status. */
  private static void completions(List<LogPattern> to) {
    add(
        to,
        10,
        NCCL,
        completion(12),
        "Transport retry counter exceeded: the peer did not acknowledge, for 4.096 µs × 2^timeout ×"
            + " retries. The peer has died, packets are lost (a lossy class, a wrong MTU), or the GID"
            + " does not lead there.",
        "see first whether the peer's log ends earlier; then MTU of both ends, GID index, traffic"
            + " class and pause frames; ib_write_bw between the two NICs named",
        "DB-MTU-03 DB-GID-04 DB-PORT-05",
        NCCL_ISSUES + 1814,
        NCCL_ISSUES + 1664,
        NCCL_ISSUES + 1405);
    add(
        to,
        11,
        NCCL,
        completion(13),
        "Receiver-not-ready retries exceeded: the peer posted no receive in time; it hangs or is far"
            + " behind.",
        "look at what the peer was doing",
        "",
        NCCL_SOURCE + "transport/net_ib/p2p.cc");
    add(
        to,
        12,
        NCCL,
        completion(4),
        "Local protection error: the NIC could not read or write its own host's memory by the key it"
            + " was given. Often ACS or an IOMMU stands between NIC and GPU, or the buffer was freed.",
        "switch ACS off on the way, set the IOMMU to passthrough; NCCL_NET_GDR_LEVEL=LOC tells whether"
            + " it is GPUDirect RDMA at all",
        "DB-ACS-02 DB-IOMMU-03 DB-TOPO-06",
        NCCL_ISSUES + 1905,
        NCCL_SOURCE + "transport/net_ib/common.h");
    add(
        to,
        13,
        NCCL,
        completion(5),
        "Flushed: the queue pair was in error already. The cause is an earlier line, here or at the"
            + " peer.",
        "look for the first completion or event that is not status 5",
        "",
        NCCL_ISSUES + 1524);
    add(
        to,
        14,
        NCCL,
        completion(9),
        "Remote invalid request: the peer's NIC refused the request itself: too long, an operation the"
            + " queue pair does not allow, or a key that is gone.",
        "use the same NCCL version and plugin on all ranks; see the peer's async events",
        "",
        NCCL_ISSUES + 1710);
    add(
        to,
        15,
        NCCL,
        completion(10),
        "Remote access error: the peer's memory region does not cover the address, or its rights do"
            + " not.",
        "see the peer's log; a rank that left early has deregistered its buffers",
        "",
        NCCL_SOURCE + "transport/net_ib/p2p.cc");
    add(
        to,
        16,
        NCCL,
        completion(11),
        "Remote operation error: the peer's NIC could not carry out the request, often because its PCIe"
            + " write or read failed.",
        "look for AER errors in the peer's dmesg",
        "DB-ACS-02 DB-BAR-02",
        NCCL_SOURCE + "transport/net_ib/p2p.cc");
    add(
        to,
        17,
        NCCL,
        "NET/IB[^:]*: ?Got completion from peer",
        "A work request ended in error.",
        "the status is ibv_wc_status; the vendor error is the NIC's own",
        "",
        NCCL_SOURCE + "transport/net_ib/p2p.cc");
  }

  private static String completion(int status) {
    return "Got completion from peer .*status=(?:[A-Z_]+\\(|[a-z ]+\\()?" + status + "\\b";
  }

  /** Asynchronous events. */
  private static void events(List<LogPattern> to) {
    add(
        to,
        20,
        NCCL,
        "async (fatal )?event.*local access violation",
        "The NIC was asked, by this host or by a peer, to touch memory outside of a region's rights.",
        "see the completions in error near it; with a peer of another NCCL version or plugin make them"
            + " the same",
        "",
        NCCL_ISSUES + 1710,
        NCCL_ISSUES + 1905);
    add(
        to,
        21,
        NCCL,
        "async (fatal )?event.*invalid request local work queue",
        "The NIC received a request that its queue pair may not take.",
        "as for a completion with status 9",
        "",
        NCCL_ISSUES + 1919);
    add(
        to,
        22,
        NCCL,
        "async event.*port error",
        "The link went down, even if only for a moment.",
        "look at cable and transceiver: mlxlink -d DEVICE -m; link_downed among the port's counters",
        "DB-PORT-02",
        NCCL_ISSUES + 905);
    add(
        to,
        23,
        NCCL,
        "GID table change",
        "The interface's address changed: DHCP, NetworkManager or a script. Queue pairs made before may"
            + " no longer reach anybody.",
        "keep the address fixed while jobs run",
        "DB-GID-04",
        NCCL_ISSUES + 1819);
    add(
        to,
        24,
        NCCL,
        "local catastrophic error|device fatal",
        "The NIC's firmware gave up.",
        "see dmesg for mlx5_core; update the firmware; power-cycle the host",
        "",
        NCCL_ISSUES + 230);
    add(
        to,
        25,
        NCCL,
        "communicator encountered a fatal error",
        "NCCL noticed an asynchronous event that it cannot survive.",
        "the event is an earlier line, perhaps in another rank's log",
        "",
        NCCL_ISSUES + 1905);
  }

  /** Calls of libibverbs that failed. */
  private static void calls(List<LogPattern> to) {
    add(
        to,
        30,
        NCCL,
        "ibv_modify_qp failed.*(\\b110\\b|Connection timed out)",
        "The peer's address was not found while connecting (RTR): its NIC cannot be reached from this"
            + " one, as in rail-only networks, or ARP got no answer.",
        "NCCL_CROSS_NIC=0 on rail-only networks; ping between the two interfaces",
        "DB-GID-01",
        NCCL_ISSUES + 2013,
        NCCL_TESTS + 227);
    add(
        to,
        31,
        NCCL,
        "ibv_modify_qp failed.*(\\b22\\b|Invalid argument)",
        "The kernel refused the queue pair's attributes, most often the GID index.",
        "leave NCCL_IB_GID_INDEX out",
        "DB-GID-04",
        NCCL_SOURCE + "misc/ibvwrap.cc");
    add(
        to,
        32,
        NCCL,
        "ibv_modify_qp failed.*(\\b101\\b|Network is unreachable)",
        "There is no route from this GID to the peer's: different subnets, or a link-local address.",
        "give the interfaces routable addresses, or choose NICs of one network",
        "DB-GID-03",
        NCCL_TESTS + 185);
    add(
        to,
        33,
        NCCL,
        "ibv_modify_qp failed.*(\\b19\\b|No such device)",
        "The GID that was chosen belongs to an interface that is not there: a container without the"
            + " host's network sees the table but not the interface.",
        "run the container in the host's network, or move the interface into it",
        "DB-GID-04",
        NCCL_ISSUES + 925);
    add(
        to,
        34,
        NCCL,
        "ibv_reg_(dmabuf_)?mr.*Cannot allocate memory",
        "Memory could not be locked or BAR1 is full.",
        "ulimit -l unlimited, also inside mpirun, Slurm and containers",
        "DB-MEMLOCK-02 DB-MEMLOCK-03 DB-BAR-02",
        NCCL_TESTS + 206);
    add(
        to,
        35,
        NCCL,
        "ibv_create_(cq|qp).*fail",
        "The queue's memory could not be locked; more rarely the device is out of queues.",
        "ulimit -l unlimited; in containers --ulimit memlock=-1 and --cap-add=IPC_LOCK",
        "DB-MEMLOCK-02",
        NCCL_ISSUES + 380,
        "https://github.com/openucx/ucx/issues/8229");
    add(
        to,
        36,
        NCCL,
        "ibv_reg_mr.*Bad address",
        "ibv_reg_mr does not know GPU addresses: no peer memory client is registered.",
        "load nvidia_peermem, or use dma-buf",
        "DB-PEERMEM-02 DB-PEERMEM-04",
        "https://github.com/microsoft/mscclpp/issues/657",
        "https://github.com/kvcache-ai/Mooncake/issues/281");
    add(
        to,
        37,
        NCCL,
        "Attempted to (connect|merge) incompatible devices|device is incompatible with the local",
        "InfiniBand and Ethernet ports are mixed.",
        "choose NICs of one link layer on all hosts: NCCL_IB_HCA",
        "DB-MTU-04",
        NCCL_SOURCE + "transport/net_ib/connect.cc");
    add(
        to,
        38,
        NCCL,
        "Failed to open (libibverbs|mlx5dv)",
        "rdma-core is missing in this container or host, or too old.",
        "install rdma-core and its providers",
        "DB-RDMA-03 DB-RDMA-04",
        NCCL_SOURCE + "transport/net_ib/init.cc");
    add(
        to,
        39,
        NCCL,
        "DOCA (failure|Error) \\d+",
        "GPU-initiated networking (GDAKI) could not make or connect a queue pair. On InfiniBand with"
            + " several subnets the port demands a GRH, which some versions do not set.",
        "NCCL_GIN_TYPE=2 uses the CPU proxy; update NCCL",
        "DB-NVREG-02 DB-PEERMEM-04",
        NCCL_ISSUES + 2237);
  }

  /** What is around NCCL: shared memory, NVSwitches, sockets, versions. */
  private static void surroundings(List<LogPattern> to) {
    add(
        to,
        40,
        NCCL,
        "Error while creating shared memory segment|failed to extend /dev/shm|posix_fallocate failed",
        "/dev/shm is full: Docker gives 64 MB.",
        "docker run --shm-size=8g, or a memory-backed emptyDir at /dev/shm; remove stale /dev/shm/nccl-*",
        "",
        NCCL_ISSUES + 290,
        NCCL_ISSUES + 342,
        NCCL_ISSUES + 525);
    add(
        to,
        41,
        NCCL,
        "Error while attaching to shared memory segment",
        "Ranks that NCCL takes for one host do not share /dev/shm: containers with the same host name.",
        "share /dev/shm (--ipc=host), or give the containers different NCCL_HOSTID",
        "",
        "https://github.com/vllm-project/vllm/issues/18831");
    add(
        to,
        42,
        NCCL,
        "NVLink SHARP \\(NVLS\\)|transport/nvls\\.cc.*Cuda failure",
        "Multicast memory of the NVSwitches could not be made: the fabric manager is not well, was"
            + " restarted under running jobs, or the container lacks /dev/nvidia-caps.",
        "restart nvidia-fabricmanager with no job running, or reboot; NCCL_NVLS_ENABLE=0 goes without",
        "",
        NCCL_ISSUES + 976,
        NCCL_ISSUES + 1788,
        NCCL_ISSUES + 1338);
    add(
        to,
        43,
        NCCL,
        "system not yet initialized",
        "NVSwitches are there and the fabric manager is not running.",
        "systemctl enable --now nvidia-fabricmanager, of exactly the driver's version",
        "",
        NCCL_TESTS + 264);
    add(
        to,
        44,
        NCCL,
        "Mismatched NCCL version detected",
        "Ranks were started with different NCCLs.",
        "compare LD_LIBRARY_PATH and the Python environments of the hosts",
        "",
        NCCL_SOURCE + "init.cc");
    add(
        to,
        45,
        NCCL,
        "no socket interface found|No usable listening interface|No IP interface found",
        "No interface is left for the bootstrap.",
        "NCCL_SOCKET_IFNAME names the interface, as a prefix; =NAME is exact, ^NAME excludes",
        "",
        NCCL_SOURCE + "bootstrap.cc");
    add(
        to,
        46,
        NCCL,
        "Connection closed by remote peer",
        "Another rank has gone; this one only noticed.",
        "look for the rank whose log ends first",
        "",
        NCCL_SOURCE + "misc/socket.cc");
    add(
        to,
        47,
        NCCL,
        "Failed to initialize any NET plugin",
        "NCCL_NET or a plugin asked for a network that is not there.",
        "look for the lines above; leave NCCL_NET out",
        "DB-RDMA-02 DB-ENV-06",
        "https://github.com/getainode/ainode/pull/87");
    add(
        to,
        48,
        UCX,
        "Please set max locked memory",
        "Memory could not be locked.",
        "ulimit -l unlimited",
        "DB-MEMLOCK-02",
        "https://github.com/openucx/ucx/issues/8746");
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
