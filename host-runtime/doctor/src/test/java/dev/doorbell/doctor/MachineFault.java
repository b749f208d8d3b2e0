package dev.doorbell.doctor;

import static dev.doorbell.doctor.Machine.DOWNSTREAM;
import static dev.doorbell.doctor.Machine.GPU0;
import static dev.doorbell.doctor.Machine.GPU1;
import static dev.doorbell.doctor.Machine.NIC0;
import static dev.doorbell.doctor.Machine.NIC1;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Faults of machines, after public cases, and the codes that the doctor must report.
 *
 * @param gained codes that are found, and are not on the healthy machine
 * @param lost codes of the healthy machine that are not found
 */
record MachineFault(String name, Consumer<Machine> change, Set<String> gained, Set<String> lost) {
  private static final String NO_PAIR = "PEERMEM-01 DMABUF-01 NVREG-01 IOMMU-02";
  private static final String NO_HCA =
      NO_PAIR + " RDMA-01 TOPO-01 ACS-01 MEMLOCK-01 PORT-01 GID-01 MTU-01";
  private static final int REDIRECT = 0x1d;

  @Override
  public String toString() {
    return name;
  }

  private static MachineFault of(
      String name, Consumer<Machine> change, String gained, String lost) {
    return new MachineFault(name, change, words(gained), words(lost));
  }

  private static Set<String> words(String text) {
    return text.isEmpty() ? Set.of() : Set.of(text.split(" ", -1));
  }

  static List<MachineFault> all() {
    return List.of(
        // Driver
        of(
            "proprietary modules",
            m -> m.openModules(false),
            "DRIVER-02 DMABUF-03",
            "DRIVER-01 DMABUF-01"),
        of(
            "nouveau",
            m -> m.noDriver().driver(GPU0, "nouveau").driver(GPU1, "nouveau"),
            "DRIVER-03 PEERMEM-07",
            "DRIVER-01 " + NO_PAIR),
        of("no driver", Machine::noDriver, "DRIVER-04 PEERMEM-07", "DRIVER-01 " + NO_PAIR),
        of(
            "no GPU",
            m -> m.unplug(GPU0).unplug(GPU1).noDriver(),
            "DRIVER-05 PEERMEM-07",
            "DRIVER-01 TOPO-01 ACS-01 BAR-01 " + NO_PAIR),
        of("container without a GPU", m -> m.remove("dev/nvidiactl"), "DRIVER-06", ""),
        of(
            "library newer than module",
            m -> m.put("usr/lib/x86_64-linux-gnu/libcuda.so.575.57.08", ""),
            "DRIVER-07",
            ""),
        // RDMA stack
        of("container without uverbs", m -> m.remove("dev/infiniband"), "RDMA-02", "RDMA-01"),
        of(
            "rdma-core too old",
            m ->
                m.remove("usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.50.0")
                    .put("usr/lib/x86_64-linux-gnu/libibverbs.so.1.8.28.0", ""),
            "RDMA-03 DMABUF-04",
            "DMABUF-01"),
        of(
            "no rdma-core",
            m -> m.remove("usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.50.0"),
            "RDMA-04 DMABUF-04",
            "RDMA-01 DMABUF-01"),
        of(
            "a software device beside",
            m -> m.put("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE"),
            "RDMA-05",
            ""),
        of(
            "no NIC",
            m -> m.removeHca("mlx5_0").removeHca("mlx5_1").unplug(NIC0).unplug(NIC1),
            "RDMA-06 PEERMEM-07",
            NO_HCA),
        of(
            "mlx5_ib not loaded",
            m -> m.removeHca("mlx5_0").removeHca("mlx5_1"),
            "RDMA-07 PEERMEM-07",
            NO_HCA),
        of(
            "no provider for mlx5",
            m -> m.remove("usr/lib/x86_64-linux-gnu/libibverbs"),
            "RDMA-08",
            "RDMA-01"),
        // PeerReport memory and dma-buf
        of(
            "peermem loaded but not registered",
            m ->
                m.remove("sys/kernel/mm")
                    .modules("ib_core 1 2 ib_uverbs,mlx5_ib", "nvidia_peermem 16384 0 -"),
            "PEERMEM-02",
            "PEERMEM-01"),
        of(
            "peermem not registered and no dma-buf",
            m ->
                m.openModules(false)
                    .remove("sys/kernel/mm")
                    .put("sys/kernel/mm/memory_peers/other/version", "1")
                    .modules("ib_core 1 2 ib_uverbs,nvidia_peermem", "nvidia_peermem 16384 0 -"),
            "DRIVER-02 PEERMEM-02 PEERMEM-04 DMABUF-03",
            "DRIVER-01 PEERMEM-01 DMABUF-01"),
        of("peermem not loaded", Machine::noPeerMemory, "PEERMEM-03", "PEERMEM-01"),
        of(
            "old kernel without peermem",
            m -> m.noPeerMemory().put("proc/sys/kernel/osrelease", "5.4.0-190-generic"),
            "PEERMEM-04 DMABUF-02",
            "PEERMEM-01 DMABUF-01"),
        of(
            "peermem under the newer path",
            m ->
                m.remove("sys/kernel/mm")
                    .modules("ib_core 1 3 ib_uverbs,nvidia_peermem", "nvidia_peermem 16384 0 -"),
            "PEERMEM-05",
            "PEERMEM-01"),
        of(
            "old nv_peer_mem",
            m -> m.modules("ib_core 1 1 nv_peer_mem", "nv_peer_mem 16384 0 -"),
            "PEERMEM-06",
            ""),
        of(
            "kernel without P2P DMA",
            m ->
                m.put(
                    "boot/config-6.8.0-45-generic", "CONFIG_PCI=y\n# CONFIG_PCI_P2PDMA is not set"),
            "DMABUF-05",
            ""),
        of(
            "registry keys missing",
            m -> m.parameters("EnableStreamMemOPs: 0", "RegistryDwords: \"\""),
            "NVREG-02 NVREG-03",
            "NVREG-01"),
        // PciTopology
        of(
            "host bridge between",
            m -> moveNics(m, "pci0000:17", "pci0000:97"),
            "TOPO-02",
            "TOPO-01 ACS-01"),
        of(
            "another host bridge",
            m -> moveNics(m, "pci0000:27", "pci0000:a7"),
            "TOPO-03",
            "TOPO-01 ACS-01"),
        of(
            "across sockets",
            m -> m.unplug(GPU1).removeHca("mlx5_0").unplug(NIC0),
            "TOPO-04",
            "TOPO-01 ACS-01"),
        of("NUMA node unknown", m -> m.set(GPU0, "numa_node", "-1"), "TOPO-05", ""),
        of(
            "client CPU",
            m ->
                moveNics(m, "pci0000:17", "pci0000:97")
                    .cpu("GenuineIntel", "Intel(R) Core(TM) Ultra 9 285K", "fpu"),
            "TOPO-02 TOPO-06",
            "TOPO-01 ACS-01"),
        // ACS and IOMMU
        of(
            "ACS on",
            m ->
                DOWNSTREAM.forEach(
                    port -> m.config(port, new ConfigSpace(ConfigSpace.DOWNSTREAM).acs(REDIRECT))),
            "ACS-02",
            "ACS-01"),
        of(
            "virtual machine with ATS off",
            m -> {
              m.virtual();
              DOWNSTREAM.forEach(
                  port -> m.config(port, new ConfigSpace(ConfigSpace.DOWNSTREAM).acs(REDIRECT)));
              m.config(NIC0, new ConfigSpace(ConfigSpace.ENDPOINT).ats(false));
            },
            "ACS-03 VM-01 VM-03",
            "ACS-01"),
        of(
            "ordinary user",
            m -> {
              for (String address : List.of(GPU0, GPU1, NIC0, NIC1)) {
                m.config(address, new ConfigSpace(ConfigSpace.ENDPOINT).visible(64));
              }
              DOWNSTREAM.forEach(
                  port -> m.config(port, new ConfigSpace(ConfigSpace.DOWNSTREAM).visible(64)));
            },
            "ACS-04 PCIE-08",
            "ACS-01 PCIE-01"),
        of("no IOMMU", m -> groups(m, null), "IOMMU-01", "IOMMU-02"),
        of("IOMMU without passthrough", m -> groups(m, "DMA-FQ"), "IOMMU-03", "IOMMU-02"),
        // Links
        of("Gen downtrained", m -> m.link(NIC0, "8.0 GT/s PCIe", 16), "LINK-02 LINK-07", "LINK-01"),
        of(
            "width downtrained",
            m -> m.link(NIC1, "32.0 GT/s PCIe", 8),
            "LINK-03 LINK-07",
            "LINK-01"),
        of("GPU idle", m -> m.link(GPU0, "2.5 GT/s PCIe", 16), "LINK-04", "LINK-01"),
        of("link unknown", m -> m.link(NIC0, "Unknown", 0), "LINK-05", "LINK-01"),
        of(
            "slow slot",
            m ->
                m.set(DOWNSTREAM.get(1), "max_link_speed", "16.0 GT/s PCIe")
                    .link(NIC0, "16.0 GT/s PCIe", 16),
            "LINK-06 LINK-07",
            ""),
        // Device control
        of("small payload", m -> m.config(NIC0, endpoint().payload(128)), "PCIE-02", "PCIE-01"),
        of("small reads", m -> m.config(NIC0, endpoint().readRequest(256)), "PCIE-03", "PCIE-01"),
        of("usual reads", m -> m.config(NIC0, endpoint().readRequest(512)), "PCIE-04", ""),
        of(
            "strict ordering",
            m -> m.config(GPU0, endpoint().strictOrdering()),
            "PCIE-05",
            "PCIE-01"),
        of("few tags", m -> m.config(NIC0, endpoint().fewTags()), "PCIE-06", "PCIE-01"),
        of("no 10-bit tags", m -> m.config(NIC0, endpoint().noTenBitTags()), "PCIE-07", ""),
        // BAR1 and locked memory
        of("BAR1 of 256 MiB", m -> m.bar1(GPU0, 256 << 20), "BAR-02", "BAR-01"),
        of("BAR1 unassigned", m -> m.bar1(GPU1, 0), "BAR-03", "BAR-01"),
        of(
            "memlock small in a container",
            m -> m.locked("65536").put(".dockerenv", ""),
            "MEMLOCK-02",
            "MEMLOCK-01"),
        of("memlock limited", m -> m.locked("8589934592"), "MEMLOCK-03", "MEMLOCK-01"),
        of(
            "memlock small, but CAP_IPC_LOCK",
            m -> m.locked("65536").put("proc/self/status", "CapEff:\t0000000000004000"),
            "",
            ""),
        // Ports, GIDs, MTU
        of("port down", m -> m.port("mlx5_1", "state", "1: DOWN"), "PORT-02", "PORT-01"),
        of(
            "all ports down",
            m -> m.port("mlx5_0", "state", "1: DOWN").port("mlx5_1", "state", "1: DOWN"),
            "PORT-03",
            "PORT-01 GID-01 MTU-01"),
        of(
            "no subnet manager",
            m -> m.infiniBand("mlx5_0", "2: INIT", "0x0").infiniBand("mlx5_1", "4: ACTIVE", "0x1"),
            "PORT-04",
            "PORT-01 GID-01 MTU-01"),
        of(
            "traffic class of the kernel alone",
            m -> m.put(m.place("mlx5_0") + "/tc/1/traffic_class", "Global tclass=106"),
            "PORT-05",
            ""),
        of(
            "no RoCE v2 GID",
            m -> {
              for (String hca : List.of("mlx5_0", "mlx5_1")) {
                m.port(hca, "gid_attrs/types/1", "IB/RoCE v1")
                    .port(hca, "gid_attrs/types/3", "IB/RoCE v1");
              }
            },
            "GID-02",
            "GID-01"),
        of(
            "link-local GIDs alone",
            m ->
                m.removePort("mlx5_0", "gids/2", "gids/3").removePort("mlx5_1", "gids/2", "gids/3"),
            "GID-03",
            "GID-01"),
        of("GID index of version 1", m -> m.variable("NCCL_IB_GID_INDEX", "2"), "GID-04", ""),
        of(
            "MTU 1500",
            m ->
                m.put("sys/class/net/ens0np0/mtu", "1500").put("sys/class/net/ens1np0/mtu", "1500"),
            "MTU-02",
            "MTU-01"),
        // Ordering and virtual machines
        of(
            "relaxed ordering switched off on EPYC",
            m ->
                m.cpu("AuthenticAMD", "AMD EPYC 9654", "fpu")
                    .variable("NCCL_IB_PCI_RELAXED_ORDERING", "0"),
            "ORDER-01",
            ""),
        of(
            "relaxed ordering forced",
            m -> m.variable("UCX_IB_PCI_RELAXED_ORDERING", "y"),
            "ORDER-02",
            ""),
        of(
            "flat virtual machine with virtual functions",
            m -> {
              moveNics(m, "pci0000:17", "pci0000:97").virtual();
              m.set(NIC0, "device", "0x101e").config(NIC0, endpoint().ats(true));
            },
            "VM-01 VM-02 VM-04 VM-05",
            "TOPO-01 ACS-01"),
        // Variables
        of("unknown variable", m -> m.variable("NCCL_IB_MTU", "4096"), "ENV-02", "ENV-01"),
        of("forgotten variable", m -> m.variable("NCCL_IB_CUDA_SUPPORT", "1"), "ENV-03", "ENV-01"),
        of("invalid algorithm", m -> m.variable("NCCL_ALGO", "Hierarchical"), "ENV-04", ""),
        of("threads by CPU cores", m -> m.variable("NCCL_NTHREADS", "8"), "ENV-04", ""),
        of("GDR forced", m -> m.variable("NCCL_NET_GDR_LEVEL", "SYS"), "ENV-05", ""),
        of("RDMA switched off", m -> m.put("etc/nccl.conf", "NCCL_IB_DISABLE=1"), "ENV-06", ""),
        of("no such HCA", m -> m.variable("NCCL_IB_HCA", "=mlx5_7"), "ENV-07", ""),
        of(
            "a topology that is not there",
            m -> m.variable("NCCL_TOPO_FILE", "/opt/topo.xml"),
            "ENV-10",
            ""),
        of(
            "a topology of the user's file that is not there",
            m ->
                m.variable("NCCL_CONF_FILE", "/opt/my.conf")
                    .put("opt/my.conf", "NCCL_TOPO_FILE=/opt/topo.xml"),
            "ENV-10",
            ""),
        of(
            "RDMA switched off by the user's own file",
            m -> m.variable("HOME", "/root").put("root/.nccl.conf", "NCCL_IB_DISABLE=1"),
            "ENV-06",
            ""),
        of(
            "dma-buf switched off",
            m -> m.noPeerMemory().variable("NCCL_DMABUF_ENABLE", "0"),
            "PEERMEM-03 ENV-08",
            "PEERMEM-01"),
        of(
            "IBGDA on another vendor's NIC",
            m ->
                m.variable("NVSHMEM_IB_ENABLE_IBGDA", "1")
                    .set(NIC0, "vendor", "0x14e4")
                    .set(NIC1, "vendor", "0x14e4"),
            "ENV-09",
            ""));
  }

  private static ConfigSpace endpoint() {
    return new ConfigSpace(ConfigSpace.ENDPOINT);
  }

  /** Hangs both NICs from root ports of their own. */
  private static Machine moveNics(Machine machine, String first, String second) {
    move(machine, "mlx5_0", NIC0, first, 0);
    move(machine, "mlx5_1", NIC1, second, 1);
    return machine;
  }

  private static void move(Machine machine, String hca, String nic, String root, int numa) {
    machine.removeHca(hca).unplug(nic);
    String port = "0000:" + root.substring(8) + ":05.0";
    machine.bridge(root, List.of(), port, numa, ConfigSpace.ROOT_PORT);
    machine.nic(root, List.of(port), nic, numa).hca(hca, nic, numa);
  }

  private static void groups(Machine machine, @Nullable String type) {
    for (String address : List.of(GPU0, GPU1, NIC0, NIC1)) {
      if (type == null) {
        machine.remove(machine.at(address) + "/iommu_group");
      } else {
        machine.set(address, "iommu_group/type", type);
      }
    }
  }
}
