package dev.doorbell.interop.shim;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Writes what describes the devices as files in a folder, where the preload library looks for them:
 * their entries of {@code /sys/class} with the links as a kernel has them, a PCI function each, and
 * the names of {@code /dev/infiniband}.
 */
final class SysfsTree {
  // Numbers of the nodes, as in the preload library.
  private static final int NODE_MAJOR = 231;
  private static final int NODE_MINOR = 192;
  private static final int CM_MAJOR = 10;
  private static final int CM_MINOR = 58;

  /** A PCI domain that no machine has; the preload library uses the same one. */
  private static final String DOMAIN = "db00:00";

  /** The bus of the first emulated GPU in this domain, as in the CUDA libraries. */
  private static final int FIRST_GPU_BUS = 0x10;

  private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");
  private static final int MASK_BITS = 32;

  /** Objects that RDMA netlink counts. */
  private static final Map<String, Class<? extends Resource>> KINDS =
      Map.of(
          "pd", Resource.Pd.class,
          "cq", Resource.Cq.class,
          "qp", Resource.Qp.class,
          "mr", Resource.Mr.class,
          "srq", Resource.Srq.class);

  private SysfsTree() {}

  /**
   * @param real devices reach the memory of real GPUs: programs look for the module by which a
   *     kernel does
   * @param gpus emulated ones, each below a bridge of its own
   */
  static void write(Path root, List<ServedDevice> devices, boolean real, int gpus)
      throws IOException {
    if (real || gpus > 0) {
      put(root.resolve("sys/module/nvidia_peermem/version"), "doorbell");
    }
    Path classes = root.resolve("sys/class");
    put(classes.resolve("infiniband_verbs/abi_version"), "6");
    put(classes.resolve("infiniband_mad/abi_version"), "5");
    put(classes.resolve("misc/rdma_cm/abi_version"), "4");
    put(classes.resolve("misc/rdma_cm/dev"), CM_MAJOR + ":" + CM_MINOR);
    put(root.resolve("dev/infiniband/rdma_cm"), "");
    Path bus = root.resolve("sys/bus/pci");
    for (int gpu = 0; gpu < gpus; gpu++) {
      String behind = "db00:%02x".formatted(FIRST_GPU_BUS + gpu);
      String bridge = "devices/pci%s/%s:%02x.1".formatted(DOMAIN, DOMAIN, FIRST_GPU_BUS + gpu);
      String at = bridge + "/" + behind + ":00.0";
      writeFunction(root.resolve("sys").resolve(at), true);
      link(bus.resolve("devices").resolve(behind + ":00.0"), "../../../" + at);
      link(root.resolve("sys/" + bridge + "/pci_bus/" + behind + "/device"), "../..");
      link(classes.resolve("pci_bus/" + behind), "../../" + bridge + "/pci_bus/" + behind);
    }
    for (ServedDevice device : devices) {
      int number = device.number();
      String address = "%s:%02x.0".formatted(DOMAIN, number);
      String at = "devices/pci%s/%s".formatted(DOMAIN, address);
      Path function = root.resolve("sys").resolve(at);
      writeFunction(function, false);
      put(
          function.resolve("modalias"),
          "pci:v000015B3d0000%04Xsv000015B3sd00000016bc02sc00i00"
              .formatted(ServedDevice.VENDOR_PART));
      put(
          function.resolve("uevent"),
          "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:%04X\nPCI_SLOT_NAME=%s"
              .formatted(ServedDevice.VENDOR_PART, address));
      for (String name : Set.copyOf(device.networkInterfaces())) {
        Path network = function.resolve("net").resolve(name);
        put(network.resolve("dev_id"), "0x0");
        put(network.resolve("dev_port"), "0");
        put(network.resolve("address"), mac(device.mac()));
      }
      Path node = function.resolve("infiniband_verbs/uverbs" + number);
      put(node.resolve("dev"), NODE_MAJOR + ":" + (NODE_MINOR + number));
      put(node.resolve("ibdev"), device.name());
      put(node.resolve("abi_version"), "1");
      link(node.resolve("device"), "../../../" + address);
      link(
          classes.resolve("infiniband_verbs/uverbs" + number),
          "../../%s/infiniband_verbs/uverbs%d".formatted(at, number));
      Path entry = function.resolve("infiniband").resolve(device.name());
      writeDevice(entry, device);
      link(entry.resolve("device"), "../../../" + address);
      link(entry.resolve("subsystem"), "../../../../../class/infiniband");
      link(
          classes.resolve("infiniband").resolve(device.name()),
          "../../%s/infiniband/%s".formatted(at, device.name()));
      link(bus.resolve("devices").resolve(address), "../../../" + at);
      link(bus.resolve("drivers/mlx5_core").resolve(address), "../../../../" + at);
      link(function.resolve("driver"), "../../../bus/pci/drivers/mlx5_core");
      link(function.resolve("subsystem"), "../../../bus/pci");
      put(root.resolve("dev/infiniband/uverbs" + number), "");
    }
  }

  /** A PCI function on PCIe 4.0 with 16 lanes: a ConnectX-6 Dx, or a GPU. */
  private static void writeFunction(Path folder, boolean gpu) throws IOException {
    String cpus = Files.isReadable(ONLINE) ? Files.readString(ONLINE).strip() : "0";
    String vendor = gpu ? "0x10de" : "0x15b3";
    put(folder.resolve("vendor"), vendor);
    put(folder.resolve("device"), "0x%04x".formatted(gpu ? 0x2330 : ServedDevice.VENDOR_PART));
    put(folder.resolve("subsystem_vendor"), vendor);
    put(folder.resolve("subsystem_device"), gpu ? "0x16c1" : "0x0016");
    put(folder.resolve("class"), gpu ? "0x030200" : "0x020000");
    put(folder.resolve("revision"), "0x00");
    put(folder.resolve("numa_node"), "-1");
    put(folder.resolve("local_cpulist"), cpus);
    put(folder.resolve("local_cpus"), mask(cpus));
    put(folder.resolve("current_link_speed"), "16.0 GT/s PCIe");
    put(folder.resolve("max_link_speed"), "16.0 GT/s PCIe");
    put(folder.resolve("current_link_width"), "16");
    put(folder.resolve("max_link_width"), "16");
    // A prefetchable 64-bit BAR, and what else a function may have.
    String none = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    put(
        folder.resolve("resource"),
        "0x00000000e0000000 0x00000000e1ffffff 0x000000000014220c\n" + none.repeat(12).strip());
  }

  /** A list of CPUs ("0-3,8") as a mask: words of 32 bits, the highest first. */
  static String mask(String list) {
    BitSet cpus = new BitSet();
    for (String range : list.split(",", -1)) {
      int dash = range.indexOf('-');
      int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
      int last = Integer.parseInt(range.substring(dash + 1));
      cpus.set(first, last + 1);
    }
    StringBuilder text = new StringBuilder();
    for (int word = (cpus.length() - 1) / MASK_BITS; word >= 0; word--) {
      long[] bits = cpus.get(word * MASK_BITS, (word + 1) * MASK_BITS).toLongArray();
      text.append("%08x".formatted(bits.length == 0 ? 0 : bits[0]));
      text.append(word > 0 ? "," : "");
    }
    return text.toString();
  }

  private static void writeDevice(Path folder, ServedDevice device) throws IOException {
    put(folder.resolve("node_type"), "1: CA");
    put(folder.resolve("node_guid"), words(device.guid()));
    put(folder.resolve("sys_image_guid"), words(device.guid()));
    put(folder.resolve("node_desc"), "doorbell " + device.name());
    put(folder.resolve("fw_ver"), ServedDevice.FIRMWARE);
    put(folder.resolve("hw_rev"), "0");
    put(folder.resolve("hca_type"), "MT4125");
    put(folder.resolve("board_id"), "DOORBELL");
    Path port = folder.resolve("ports/1");
    writePort(port, device.hca());
    put(port.resolve("lid_mask_count"), "0");
    put(port.resolve("sm_lid"), "0x0");
    put(port.resolve("sm_sl"), "0");
    put(port.resolve("cap_mask"), "0x00010000");
    put(port.resolve("link_layer"), "Ethernet");
    put(port.resolve("rate"), "100 Gb/sec (4X EDR)");
    put(port.resolve("lid"), "0x0");
    put(port.resolve("pkeys/0"), "0xffff");
    int count = device.gids().size();
    for (int i = 0; i < count; i++) {
      Gid gid = device.gids().get(i);
      put(port.resolve("gids/" + i), words(gid.high()) + ":" + words(gid.low()));
      put(port.resolve("gid_attrs/types/" + i), "RoCE v2");
      put(port.resolve("gid_attrs/ndevs/" + i), device.networkInterfaces().get(i));
    }
    for (int i = count; i < ServedDevice.GID_TABLE_ENTRIES; i++) {
      put(port.resolve("gids").resolve(String.valueOf(i)), words(0) + ":" + words(0));
    }
  }

  /** Writes what changes of a device: objects of its users, state and counters of the port. */
  static void writeChanging(Path root, ServedDevice device, List<ClientContext> users)
      throws IOException {
    Path folder = root.resolve("sys/class/infiniband").resolve(device.name());
    for (var kind : KINDS.entrySet()) {
      long count = users.stream().mapToLong(user -> user.count(kind.getValue())).sum();
      put(folder.resolve("resources").resolve(kind.getKey()), String.valueOf(count));
    }
    put(folder.resolve("resources/ctx"), String.valueOf(users.size()));
    writePort(folder.resolve("ports/1"), device.hca());
  }

  private static void writePort(Path port, SoftHca hca) throws IOException {
    put(port.resolve("state"), hca.isLinkUp() ? "4: ACTIVE" : "1: DOWN");
    put(port.resolve("phys_state"), hca.isLinkUp() ? "5: LinkUp" : "3: Disabled");
    for (Counter counter : Counter.values()) {
      put(port.resolve(counter.path()), String.valueOf(hca.counters().get(counter)));
    }
    put(port.resolve("hw_counters/lifespan"), "0");
  }

  private static String mac(long address) {
    String digits = "%012x".formatted(address);
    return String.join(":", digits.split("(?<=\\G..)", -1));
  }

  /** 64 bits as the kernel prints them: four words. */
  private static String words(long value) {
    return "%04x:%04x:%04x:%04x"
        .formatted(
            value >>> 48 & 0xffff, value >>> 32 & 0xffff, value >>> 16 & 0xffff, value & 0xffff);
  }

  private static void put(Path file, String text) throws IOException {
    Path folder = file.getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.writeString(file, text + "\n", StandardCharsets.US_ASCII);
  }

  private static void link(Path link, String target) throws IOException {
    Path folder = link.getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.createSymbolicLink(link, Path.of(target));
  }

  /** Deletes a folder and what is in it. */
  static void delete(Path root) throws IOException {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
