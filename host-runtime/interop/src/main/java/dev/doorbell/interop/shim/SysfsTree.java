package dev.doorbell.interop.shim;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import java.io.File;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

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
  private static final String DOMAIN = "db00:";

  /**
   * Buses: the first of emulated GPUs as in the CUDA libraries, of HCAs, of switches' two sides.
   */
  private static final int GPU_BUS = 0x10;

  private static final int HCA_BUS = 0x80;
  private static final int SWITCH_BUS = 0x40;
  private static final int PORT_BUS = 0x60;
  private static final String BRIDGE = "11f8:4000 11f8:beef 060400";

  private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");

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
   * @param gpus emulated ones; they and the HCAs share switches evenly, each on a bus of its own
   */
  static void write(Path root, List<ServedDevice> devices, boolean real, int gpus)
      throws IOException {
    Path sys = root.resolve("sys");
    if (real || gpus > 0) {
      put(sys.resolve("module/nvidia_peermem/version"), "doorbell");
      put(root.resolve("proc/modules"), "nvidia_peermem 16384 0 - Live 0x0000000000000000");
    }
    Path classes = sys.resolve("class");
    put(classes.resolve("infiniband_verbs/abi_version"), "6");
    put(classes.resolve("infiniband_mad/abi_version"), "5");
    put(classes.resolve("misc/rdma_cm/abi_version"), "4");
    put(classes.resolve("misc/rdma_cm/dev"), CM_MAJOR + ":" + CM_MINOR);
    put(root.resolve("dev/infiniband/rdma_cm"), "");
    int switches = gpus > 0 ? Math.min(gpus, devices.size()) : devices.size();
    for (int gpu = 0; gpu < gpus; gpu++) {
      writeEndpoint(sys, gpu * switches / gpus, gpu, GPU_BUS + gpu, "10de:2330 10de:16c1 030200");
    }
    for (ServedDevice device : devices) {
      int number = device.number();
      int at = number * switches / devices.size();
      String ids = "15b3:" + hex(ServedDevice.VENDOR_PART, 4) + " 15b3:0016 020000";
      Path function = writeEndpoint(sys, at, gpus + number, HCA_BUS + number, ids);
      put(
          function.resolve("modalias"),
          "pci:v000015B3d0000"
              + hex(ServedDevice.VENDOR_PART, 4).toUpperCase(Locale.ROOT)
              + "sv000015B3sd00000016bc02sc00i00");
      put(
          function.resolve("uevent"),
          "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:"
              + hex(ServedDevice.VENDOR_PART, 4).toUpperCase(Locale.ROOT)
              + "\nPCI_SLOT_NAME="
              + function.getFileName());
      for (String name : Set.copyOf(device.networkInterfaces())) {
        Path network = function.resolve("net").resolve(name);
        put(network.resolve("dev_id"), "0x0");
        put(network.resolve("dev_port"), "0");
        put(network.resolve("address"), groups(hex(device.mac(), 12), 2, ":"));
      }
      Path node = function.resolve("infiniband_verbs/uverbs" + number);
      put(node.resolve("dev"), NODE_MAJOR + ":" + (NODE_MINOR + number));
      put(node.resolve("ibdev"), device.name());
      put(node.resolve("abi_version"), "1");
      link(node.resolve("device"), function);
      link(classes.resolve("infiniband_verbs/uverbs" + number), node);
      Path entry = function.resolve("infiniband").resolve(device.name());
      writeDevice(entry, device);
      link(entry.resolve("device"), function);
      link(entry.resolve("subsystem"), classes.resolve("infiniband"));
      link(classes.resolve("infiniband").resolve(device.name()), entry);
      Path driver = sys.resolve("bus/pci/drivers/mlx5_core");
      link(driver.resolve(function.getFileName()), function);
      link(function.resolve("driver"), driver);
      put(root.resolve("dev/infiniband/uverbs" + number), "");
    }
  }

  /** A function below a bridge of its own, which is port {@code slot} of a switch. */
  private static Path writeEndpoint(Path sys, int at, int slot, int bus, String ids)
      throws IOException {
    Path port = writeFunction(sys, sys.resolve("devices/pci" + DOMAIN + "00"), 0, at + 1, BRIDGE);
    Path up = writeFunction(sys, port, SWITCH_BUS + at, 0, BRIDGE);
    Path down = writeFunction(sys, up, PORT_BUS + at, slot, BRIDGE);
    return writeFunction(sys, down, bus, 0, ids);
  }

  /** A PCI function on PCIe 4.0 with 16 lanes: a ConnectX-6 Dx, a GPU, or a port of a bridge. */
  private static Path writeFunction(Path sys, Path parent, int bus, int slot, String ids)
      throws IOException {
    String[] id = ids.split("[ :]", -1);
    String behind = DOMAIN + hex(bus, 2);
    Path folder = parent.resolve(behind + ":" + hex(slot, 2) + ".0");
    String cpus = Files.isReadable(ONLINE) ? Files.readString(ONLINE).strip() : "0";
    put(folder.resolve("vendor"), "0x" + id[0]);
    put(folder.resolve("device"), "0x" + id[1]);
    put(folder.resolve("subsystem_vendor"), "0x" + id[2]);
    put(folder.resolve("subsystem_device"), "0x" + id[3]);
    put(folder.resolve("class"), "0x" + id[4]);
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
    link(folder.resolve("subsystem"), sys.resolve("bus/pci"));
    link(sys.resolve("bus/pci/devices").resolve(folder.getFileName()), folder);
    Path entry = parent.resolve("pci_bus").resolve(behind);
    link(entry.resolve("device"), parent);
    link(sys.resolve("class/pci_bus").resolve(behind), entry);
    return folder;
  }

  /** A list of CPUs ("0-3,8") as a mask: words of 32 bits, the highest first. */
  static String mask(String list) {
    BigInteger cpus = BigInteger.ZERO;
    for (String range : list.split(",", -1)) {
      int dash = range.indexOf('-');
      int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
      int last = Integer.parseInt(range.substring(dash + 1));
      for (int cpu = first; cpu <= last; cpu++) {
        cpus = cpus.setBit(cpu);
      }
    }
    String digits = cpus.toString(16);
    return groups("0".repeat(-digits.length() & 7) + digits, 8, ",");
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
    int used = device.gids().size();
    for (int i = 0; i < used; i++) {
      Gid gid = device.gids().get(i);
      put(port.resolve("gids/" + i), words(gid.high()) + ":" + words(gid.low()));
      put(port.resolve("gid_attrs/types/" + i), "RoCE v2");
      put(port.resolve("gid_attrs/ndevs/" + i), device.networkInterfaces().get(i));
    }
    // Nobody writes to the unused ones, so they are one file; to make each took a fifth of the
    // start of a program.
    Path unused = port.resolve("gids/" + used);
    put(unused, words(0) + ":" + words(0));
    for (int i = used + 1; i < ServedDevice.GID_TABLE_ENTRIES; i++) {
      Files.createLink(port.resolve("gids/" + i), unused);
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

  /** 64 bits as the kernel prints them: four words. */
  private static String words(long value) {
    return groups(hex(value, 16), 4, ":");
  }

  /** The lowest digits; {@code String.format} takes 20 ms the first time. */
  private static String hex(long value, int digits) {
    return HexFormat.of().toHexDigits(value, digits);
  }

  private static String groups(String digits, int each, String between) {
    StringBuilder text = new StringBuilder(digits);
    for (int at = digits.length() - each; at > 0; at -= each) {
      text.insert(at, between);
    }
    return text.toString();
  }

  private static void put(Path file, String text) throws IOException {
    try {
      Files.writeString(file, text + "\n", StandardCharsets.US_ASCII);
    } catch (NoSuchFileException e) {
      Files.createDirectories(file.resolveSibling(""));
      Files.writeString(file, text + "\n", StandardCharsets.US_ASCII);
    }
  }

  /** Links by a relative path that ends with the target's name, as a kernel's do. */
  private static void link(Path link, Path target) throws IOException {
    Path folder = link.resolveSibling("");
    Files.createDirectories(folder);
    Path above = folder.relativize(target.resolveSibling(""));
    if (!Files.isSymbolicLink(link)) {
      Files.createSymbolicLink(link, above.resolve(target.getFileName()));
    }
  }

  static void delete(Path root) throws IOException {
    if (Files.exists(root, LinkOption.NOFOLLOW_LINKS) && !delete(root.toFile())) {
      throw new IOException("cannot delete " + root);
    }
  }

  /** Deletes a file, a link, or a folder with what is in it. */
  private static boolean delete(File file) {
    if (file.delete()) {
      return true;
    }
    File[] within = Files.isSymbolicLink(file.toPath()) ? null : file.listFiles();
    for (File each : within == null ? new File[0] : within) {
      delete(each);
    }
    return file.delete();
  }
}
