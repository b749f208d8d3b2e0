package dev.doorbell.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A made-up machine as files, after public listings of DGX-like servers: two sockets, and below
 * each a switch with one GPU and one ConnectX-7 in RoCE mode. Everything about it is as it should
 * be, until a test breaks it.
 */
final class Machine {
  static final String GPU0 = "0000:1b:00.0";
  static final String NIC0 = "0000:1c:00.0";
  static final String GPU1 = "0000:9b:00.0";
  static final String NIC1 = "0000:9c:00.0";
  static final List<String> DOWNSTREAM =
      List.of("0000:1a:00.0", "0000:1a:01.0", "0000:9a:00.0", "0000:9a:01.0");

  private static final String KERNEL = "6.8.0-45-generic";
  private static final String IPV4 = "0000:0000:0000:0000:0000:ffff:c0a8:01";
  private static final long GIBIBYTE = 1L << 30;

  private final Map<String, byte[]> files = new TreeMap<>();
  private final Map<String, String> links = new TreeMap<>();
  private final Map<String, String> places = new HashMap<>();
  private final Map<String, String> variables = new TreeMap<>();

  private Machine() {}

  /** The healthy one. */
  static Machine dgx() {
    Machine machine = bare();
    machine.socket(0, "pci0000:17", "18", "19", "1a", "1b", "1c");
    machine.socket(1, "pci0000:97", "98", "99", "9a", "9b", "9c");
    machine.hca("mlx5_0", NIC0, 0);
    machine.hca("mlx5_1", NIC1, 1);
    machine.driver();
    return machine.variable("NCCL_DEBUG", "INFO").variable("NCCL_IB_HCA", "mlx5");
  }

  /** A server with nothing of interest in it. */
  static Machine bare() {
    Machine machine = new Machine();
    machine.put("proc/sys/kernel/osrelease", KERNEL);
    machine.put("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt");
    machine.cpu("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480C", "fpu vme avx512f");
    machine.locked("unlimited");
    machine.put("proc/self/status", "Name:\tjava\nCapEff:\t0000000000000000");
    machine.put("proc/1/cgroup", "0::/init.scope");
    machine.put("sys/devices/system/node/node0/cpulist", "0-55");
    machine.put("sys/devices/system/node/node1/cpulist", "56-111");
    machine.put("sys/class/dmi/id/product_name", "Example GPU Server");
    machine.put("boot/config-" + KERNEL, "CONFIG_PCI_P2PDMA=y\nCONFIG_DMABUF_MOVE_NOTIFY=y");
    machine.modules("ib_core 491520 3 ib_uverbs,mlx5_ib,nvidia_peermem", "mlx5_ib 450560 0 -");
    machine.put("usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.50.0", "");
    machine.put("usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so", "");
    return machine;
  }

  private void socket(
      int numa, String root, String port, String up, String down, String gpuBus, String nicBus) {
    String rootPort = "0000:" + root.substring(8) + ":01.0";
    String upstream = "0000:" + port + ":00.0";
    String gpuPort = "0000:" + down + ":00.0";
    String nicPort = "0000:" + down + ":01.0";
    // The bus of the switch's inside is not that of its upstream port.
    assert !up.equals(down);
    bridge(root, List.of(), rootPort, numa, ConfigSpace.ROOT_PORT);
    bridge(root, List.of(rootPort), upstream, numa, ConfigSpace.UPSTREAM);
    bridge(root, List.of(rootPort, upstream), gpuPort, numa, ConfigSpace.DOWNSTREAM);
    bridge(root, List.of(rootPort, upstream), nicPort, numa, ConfigSpace.DOWNSTREAM);
    gpu(root, List.of(rootPort, upstream, gpuPort), "0000:" + gpuBus + ":00.0", numa);
    nic(root, List.of(rootPort, upstream, nicPort), "0000:" + nicBus + ":00.0", numa);
  }

  Machine bridge(String root, List<String> above, String address, int numa, int portType) {
    function(root, above, address, "0x8086", "0x352a", "0x060400", numa);
    return config(address, new ConfigSpace(portType).acs(0));
  }

  Machine gpu(String root, List<String> above, String address, int numa) {
    function(root, above, address, "0x10de", "0x2330", "0x030200", numa);
    bar1(address, 128 * GIBIBYTE);
    driver(address, "nvidia");
    return config(address, new ConfigSpace(ConfigSpace.ENDPOINT));
  }

  Machine nic(String root, List<String> above, String address, int numa) {
    function(root, above, address, "0x15b3", "0x1021", "0x020000", numa);
    driver(address, "mlx5_core");
    return config(address, new ConfigSpace(ConfigSpace.ENDPOINT));
  }

  private void function(
      String root,
      List<String> above,
      String address,
      String vendor,
      String device,
      String classCode,
      int numa) {
    List<String> parts = new ArrayList<>(List.of("sys/devices", root));
    parts.addAll(above);
    parts.add(address);
    String place = String.join("/", parts);
    places.put(address, place);
    links.put("sys/bus/pci/devices/" + address, "../../../../" + place);
    put(place + "/vendor", vendor);
    put(place + "/device", device);
    put(place + "/class", classCode);
    put(place + "/numa_node", Integer.toString(numa));
    put(place + "/iommu_group/type", "identity");
    put(place + "/max_link_speed", "32.0 GT/s PCIe");
    put(place + "/max_link_width", "16");
    link(address, "32.0 GT/s PCIe", 16);
  }

  /** Takes a function off the bus, and all below it. */
  Machine unplug(String address) {
    String place = at(address);
    files.keySet().removeIf(path -> path.startsWith(place + "/"));
    links
        .keySet()
        .removeIf(path -> path.startsWith(place + "/") || path.endsWith("devices/" + address));
    return this;
  }

  /** Returns the folder of a function's files. */
  String at(String address) {
    String place = places.get(address);
    if (place == null) {
      throw new IllegalArgumentException("no function " + address);
    }
    return place;
  }

  Machine set(String address, String file, String text) {
    return put(at(address) + "/" + file, text);
  }

  Machine link(String address, String speed, int width) {
    set(address, "current_link_speed", speed);
    return set(address, "current_link_width", Integer.toString(width));
  }

  Machine driver(String address, String name) {
    links.put(at(address) + "/driver", "../../../bus/pci/drivers/" + name);
    return this;
  }

  Machine config(String address, ConfigSpace space) {
    files.put(at(address) + "/config", space.bytes());
    return this;
  }

  Machine bar1(String address, long bytes) {
    String unused = "0x0000000000000000 0x0000000000000000 0x0000000000000000";
    List<String> lines = new ArrayList<>(Collections.nCopies(6, unused));
    lines.set(0, "0x00000000d0000000 0x00000000d0ffffff 0x0000000000040200");
    if (bytes > 0) {
      long start = 0x210000000000L;
      lines.set(1, "0x%016x 0x%016x 0x000000000014220c".formatted(start, start + bytes - 1));
    }
    return set(address, "resource", String.join("\n", lines));
  }

  Machine hca(String name, String address, int index) {
    String place = at(address) + "/infiniband/" + name;
    links.put("sys/class/infiniband/" + name, "../../../" + place);
    links.put(place + "/device", "../../../" + address);
    String netdev = "ens%dnp0".formatted(index);
    put(place + "/ports/1/state", "4: ACTIVE");
    put(place + "/ports/1/link_layer", "Ethernet");
    put(place + "/ports/1/rate", "400 Gb/sec (4X NDR)");
    put(place + "/ports/1/lid", "0x0");
    put(place + "/ports/1/gids/0", "fe80:0000:0000:0000:0a00:27ff:fe00:000" + index);
    put(place + "/ports/1/gid_attrs/types/0", "IB/RoCE v1");
    put(place + "/ports/1/gid_attrs/ndevs/0", netdev);
    put(place + "/ports/1/gids/1", "fe80:0000:0000:0000:0a00:27ff:fe00:000" + index);
    put(place + "/ports/1/gid_attrs/types/1", "RoCE v2");
    put(place + "/ports/1/gids/2", IPV4 + "0" + index);
    put(place + "/ports/1/gid_attrs/types/2", "IB/RoCE v1");
    put(place + "/ports/1/gids/3", IPV4 + "0" + index);
    put(place + "/ports/1/gid_attrs/types/3", "RoCE v2");
    put(place + "/ports/1/gids/4", "0000:0000:0000:0000:0000:0000:0000:0000");
    put("sys/class/net/%s/mtu".formatted(netdev), "9000");
    put("sys/class/infiniband_verbs/uverbs%d/ibdev".formatted(index), name);
    return put("dev/infiniband/uverbs" + index, "");
  }

  /** Makes the device of an HCA a child of its PCI function. */
  Machine below(String hca, String child) {
    String place = place(hca);
    String device = Objects.requireNonNull(links.get(place + "/device"));
    put(place.substring(0, place.indexOf("/infiniband")) + "/" + child + "/sfnum", "3");
    links.put(place + "/device", device + "/" + child);
    return this;
  }

  /** A file of a port. */
  Machine port(String hca, String file, String text) {
    return put(place(hca) + "/ports/1/" + file, text);
  }

  Machine removePort(String hca, String... wanted) {
    for (String file : wanted) {
      remove(place(hca) + "/ports/1/" + file);
    }
    return this;
  }

  /** Returns the folder of an HCA's files. */
  String place(String hca) {
    return Objects.requireNonNull(links.get("sys/class/infiniband/" + hca), hca).replace("../", "");
  }

  Machine infiniBand(String hca, String state, String lid) {
    port(hca, "link_layer", "InfiniBand").port(hca, "state", state).port(hca, "lid", lid);
    String place = place(hca) + "/ports/1/gid_attrs/ndevs";
    return remove(place + "/0");
  }

  /** Takes the HCA away and leaves its PCI function. */
  Machine removeHca(String name) {
    String place = place(name);
    files.keySet().removeIf(path -> path.startsWith(place + "/"));
    links
        .keySet()
        .removeIf(path -> path.startsWith(place + "/") || path.endsWith("infiniband/" + name));
    return this;
  }

  private void driver() {
    openModules(true);
    parameters("EnableStreamMemOPs: 1", "RegistryDwords: \"PeerMappingOverride=1;\"");
    put("dev/nvidiactl", "");
    put("usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15", "");
    put("sys/module/nvidia_peermem/version", "570.86.15");
    put("sys/kernel/mm/memory_peers/nv_mem/version", "570.86.15");
  }

  Machine openModules(boolean open) {
    return put(
        "proc/driver/nvidia/version",
        open
            ? "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build"
            : "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan  2 2025");
  }

  Machine parameters(String... lines) {
    return put("proc/driver/nvidia/params", String.join("\n", lines));
  }

  /** Takes NVIDIA's driver away, the device links excepted. */
  Machine noDriver() {
    remove("proc/driver").remove("dev/nvidiactl").noPeerMemory();
    return this;
  }

  Machine noPeerMemory() {
    remove("sys/kernel/mm").remove("sys/module/nvidia_peermem");
    return modules("ib_core 491520 2 ib_uverbs,mlx5_ib", "mlx5_ib 450560 0 -");
  }

  Machine modules(String... lines) {
    return put("proc/modules", String.join(" Live 0x0\n", lines) + " Live 0x0");
  }

  Machine cpu(String vendor, String model, String flags) {
    return put(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: %s\nmodel name\t: %s\nflags\t\t: %s\n"
            .formatted(vendor, model, flags));
  }

  Machine virtual() {
    return cpu("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480C", "fpu vme hypervisor");
  }

  Machine locked(String limit) {
    return put(
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
            + "Max processes             1030810              1030810              processes\n"
            + "Max locked memory         %-20s %-20s bytes\n".formatted(limit, limit));
  }

  Machine variable(String name, String value) {
    variables.put(name, value);
    return this;
  }

  Machine put(String path, String text) {
    files.put(path, text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  /** Removes a file, or a folder with all below it. */
  Machine remove(String path) {
    files.keySet().removeIf(file -> file.equals(path) || file.startsWith(path + "/"));
    return this;
  }

  /** Writes it below a folder, symbolic links and all. */
  Path write(Path root) throws IOException {
    StringBuilder environment = new StringBuilder("PATH=/usr/bin\0");
    variables.forEach(
        (name, value) -> environment.append(name).append('=').append(value).append('\0'));
    put("proc/self/environ", environment.toString());
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Path path = root.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.write(path, file.getValue());
    }
    for (Map.Entry<String, String> link : links.entrySet()) {
      Path path = root.resolve(link.getKey());
      Files.createDirectories(path.getParent());
      Files.createSymbolicLink(path, Path.of(link.getValue()));
    }
    return root;
  }
}
