package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.machine.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineDevice.Link;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads any of the formats; which one it is, the text says. */
public final class MachineReader {
  private static final Pattern TRANSFERS = Pattern.compile("([0-9.]+) ?GT/s.*");

  /** Gigatransfers a second of a lane, by generation less 1. */
  private static final double[] RATES = {2.5, 5, 8, 16, 32, 64};

  /** Bytes a transfer that hwloc counts, by its rule: GT/s with encoding, over 8 bits. */
  private static final double[] LANE_GIGABYTES = {0.25, 0.5, 0.985, 1.969, 3.938, 7.563};

  private static final double CLOSE = 0.06;

  private final String file;
  private final List<MachineDevice> devices = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  private MachineReader(String file) {
    this.file = file;
  }

  /**
   * Reads a machine.
   *
   * @param file its name, for messages
   * @throws ConfigException when it is none of the formats, or odd; the problem names the line
   */
  public static MachineMap read(String file, String text) throws ConfigException {
    if (!text.stripLeading().startsWith("<")) {
      return SmiMatrix.read(file, text);
    }
    XmlNode root = XmlNode.parse(file, text);
    MachineReader reader = new MachineReader(file);
    MachineMap map =
        switch (root.name()) {
          case "system" -> reader.nccl(root);
          case "topology" -> reader.lstopo(root);
          default ->
              throw root.problem(
                  "<%s> is neither NCCL's <system> nor lstopo's <topology>".formatted(root.name()));
        };
    if (map.devices().isEmpty()) {
      throw root.problem("there is no GPU and no HCA in it");
    }
    return map;
  }

  private void add(XmlNode at, MachineDevice device) throws ConfigException {
    if (!names.add(device.name())) {
      throw at.problem("a second %s".formatted(device.name()));
    }
    devices.add(device);
  }

  // NCCL: system > cpu > pci ... > pci > gpu, or nic > net.

  private MachineMap nccl(XmlNode root) throws ConfigException {
    for (XmlNode cpu : root.children()) {
      if (cpu.name().equals("cpu")) {
        int numa = cpu.number("numaid");
        for (XmlNode child : cpu.children()) {
          ncclPci(child, numa, List.of());
        }
      }
    }
    return new MachineMap("NCCL topology", devices, 0, Map.of());
  }

  private void ncclPci(XmlNode node, int numa, List<String> above) throws ConfigException {
    if (node.name().equals("nic")) {
      nets(node, numa, above, "", null);
      return;
    }
    if (!node.name().equals("pci")) {
      return;
    }
    String bus = node.get("busid");
    List<String> below = new ArrayList<>(above);
    below.add(bus);
    for (XmlNode child : node.children()) {
      switch (child.name()) {
        case "gpu" ->
            add(
                child,
                new MachineDevice(
                    "gpu" + child.number("dev"), Kind.GPU, bus, numa, above, ncclLink(node)));
        case "nic" -> nets(child, numa, above, bus, ncclLink(node));
        default -> ncclPci(child, numa, below);
      }
    }
  }

  private void nets(XmlNode nic, int numa, List<String> above, String bus, @Nullable Link link)
      throws ConfigException {
    for (XmlNode net : nic.children()) {
      if (net.name().equals("net")) {
        add(net, new MachineDevice(ncclName(net), Kind.HCA, bus, numa, above, link));
      }
    }
  }

  /** NCCL has an entry for each port of an HCA, with the HCA's name: further ports get a number. */
  private String ncclName(XmlNode net) throws ConfigException {
    String name = net.get("name");
    return names.contains(name) && net.attributes().containsKey("port") && net.number("port") > 1
        ? "%s:%d".formatted(name, net.number("port"))
        : name;
  }

  private static @Nullable Link ncclLink(XmlNode pci) throws ConfigException {
    String speed = pci.attributes().get("link_speed");
    if (speed == null || speed.isBlank() || speed.startsWith("Unknown")) {
      return null;
    }
    Matcher matcher = TRANSFERS.matcher(speed);
    if (!matcher.matches()) {
      throw pci.problem("link_speed is '%s', not such as 32.0 GT/s PCIe".formatted(speed));
    }
    int lanes = pci.number("link_width");
    if (lanes <= 0 || lanes > 32) {
      throw pci.problem("link_width is %d, not 1 to 32".formatted(lanes));
    }
    double rate;
    try {
      rate = Double.parseDouble(matcher.group(1));
    } catch (NumberFormatException e) {
      throw pci.problem("link_speed is '%s', not such as 32.0 GT/s PCIe".formatted(speed));
    }
    for (int generation = 1; generation <= RATES.length; generation++) {
      if (RATES[generation - 1] == rate) {
        return new Link(generation, lanes);
      }
    }
    throw pci.problem("link_speed is '%s', which is no generation of PCIe".formatted(speed));
  }

  // lstopo: topology > object type=Machine > Package > Bridge ... > PCIDev > OSDev.

  private MachineMap lstopo(XmlNode root) throws ConfigException {
    for (XmlNode child : root.children()) {
      lstopo(child, 0, List.of());
    }
    return new MachineMap("lstopo", devices, 1, Map.of());
  }

  private void lstopo(XmlNode node, int numa, List<String> above) throws ConfigException {
    if (!node.name().equals("object")) {
      return;
    }
    String type = node.get("type");
    int here = type.equals("Package") || type.equals("Group") ? own(node, numa) : numa;
    List<String> below = new ArrayList<>(above);
    if (type.equals("Bridge") && node.attributes().containsKey("pci_busid")) {
      below.add(node.get("pci_busid"));
    }
    if (type.equals("PCIDev")) {
      pciDevice(node, here, above);
      return;
    }
    for (XmlNode child : node.children()) {
      lstopo(child, here, below);
    }
  }

  /** The NUMA node that a package or a group has, or that of what is above. */
  private static int own(XmlNode node, int numa) throws ConfigException {
    for (XmlNode child : node.children()) {
      if ("NUMANode".equals(child.attributes().get("type"))) {
        return child.number("os_index");
      }
    }
    return node.attributes().containsKey("os_index") ? node.number("os_index") : numa;
  }

  private void pciDevice(XmlNode node, int numa, List<String> above) throws ConfigException {
    String bus = node.get("pci_busid");
    String pciType = node.attributes().getOrDefault("pci_type", "");
    boolean gpu = pciType.startsWith("0302") || pciType.startsWith("0300 [10de");
    if (gpu) {
      int number = Math.toIntExact(devices.stream().filter(d -> d.kind() == Kind.GPU).count());
      add(node, new MachineDevice("gpu" + number, Kind.GPU, bus, numa, above, lstopoLink(node)));
    }
    for (XmlNode child : node.children()) {
      boolean rdma = "3".equals(child.attributes().get("osdev_type"));
      if (rdma || "OpenFabrics".equals(child.attributes().get("subtype"))) {
        add(
            child,
            new MachineDevice(child.get("name"), Kind.HCA, bus, numa, above, lstopoLink(node)));
      }
    }
  }

  /** lstopo has gigabytes a second of all lanes: the widest link of that product. */
  private static @Nullable Link lstopoLink(XmlNode node) throws ConfigException {
    String speed = node.attributes().get("pci_link_speed");
    if (speed == null) {
      return null;
    }
    double gigabytes;
    try {
      gigabytes = Double.parseDouble(speed);
    } catch (NumberFormatException e) {
      throw node.problem("pci_link_speed is '%s', no number".formatted(speed));
    }
    for (int lanes = 16; lanes >= 1; lanes /= 2) {
      for (int generation = 1; generation <= LANE_GIGABYTES.length; generation++) {
        double full = lanes * LANE_GIGABYTES[generation - 1];
        if (Math.abs(gigabytes - full) <= CLOSE * full) {
          return new Link(generation, lanes);
        }
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return file;
  }
}
