package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Link;
import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.MissingResourceException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/** Reads any of the formats; which one it is, the text says. */
public final class MachineReader {
  private static final Pattern TRANSFERS = Pattern.compile("(\\d{1,4}(?:\\.\\d{1,4})?) ?GT/s.*");

  /** Gigatransfers a second of a lane, by generation less 1. */
  private static final double[] RATES = {2.5, 5, 8, 16, 32, 64};

  /** Bytes a transfer that hwloc counts, by its rule: GT/s with encoding, over 8 bits. */
  private static final double[] LANE_GIGABYTES = {0.25, 0.5, 0.985, 1.969, 3.938, 7.563};

  private static final double CLOSE = 0.06;

  private final List<MachineDevice> devices = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private final Map<String, String> buses = new HashMap<>();
  private final Map<String, Map<String, Integer>> links = new LinkedHashMap<>();
  private String host = "";

  /**
   * Reads a machine.
   *
   * @param file its name, for messages
   * @throws ConfigException when it is none of the formats, or odd; the problem names the line
   */
  public static MachineMap read(String file, String text) throws ConfigException {
    String start = text.stripLeading();
    if (!start.startsWith("<")) {
      if (PciTree.isTree(text)) {
        return PciTree.read(file, text);
      }
      return NcclGraph.isGraph(text) ? NcclGraph.read(file, text) : LinkMatrix.read(file, text);
    }
    XmlNode root = XmlNode.parse(file, start);
    MachineReader reader = new MachineReader();
    MachineMap map =
        switch (root.name()) {
          case "system" -> reader.nccl(root);
          case "topology" -> reader.lstopo(root);
          default ->
              throw root.problem(
                  "<%s> is neither NCCL's <system> nor lstopo's <topology>".formatted(root.name()));
        };
    if (map.devices().isEmpty()) {
      throw root.problem(
          "no GPU and no HCA is named in it; as NCCL_TOPO_FILE it may be good, since NCCL looks up"
              + " what stands at each address");
    }
    return map;
  }

  /** Class of NVSwitches; all of a host, or of a fabric of several, are one to NCCL. */
  private static final String NVSWITCH = "0x068000";

  private void add(XmlNode at, MachineDevice device) throws ConfigException {
    if (!names.add(device.name())) {
      throw at.problem("a second %s".formatted(device.name()));
    }
    devices.add(device);
  }

  // NCCL: system > cpu > pci ... > pci > gpu, or nic > net.

  private MachineMap nccl(XmlNode root) throws ConfigException {
    List<XmlNode> cpus =
        root.children().stream().filter(child -> child.name().equals("cpu")).toList();
    List<String> hosts = cpus.stream().map(MachineReader::hostHash).distinct().toList();
    for (XmlNode cpu : cpus) {
      host = hosts.size() == 1 ? "" : "host%d.".formatted(hosts.indexOf(hostHash(cpu)));
      int numa = cpu.number("numaid");
      for (XmlNode child : cpu.children()) {
        ncclPci(child, numa, List.of());
      }
    }
    return new MachineMap("NCCL topology", devices, 0, Map.of(), labels());
  }

  private static String hostHash(XmlNode cpu) {
    return cpu.attributes().getOrDefault("host_hash", "");
  }

  /** NVLinks between GPUs: to each other, or both to the same switches or the same fabric. */
  private Map<String, String> labels() {
    Map<String, String> labels = new HashMap<>();
    for (Map.Entry<String, Map<String, Integer>> one : links.entrySet()) {
      for (Map.Entry<String, Map<String, Integer>> other : links.entrySet()) {
        int direct = one.getValue().getOrDefault("bus " + buses.get(other.getKey()), 0);
        int shared =
            one.getValue().entrySet().stream()
                .filter(link -> !link.getKey().startsWith("bus "))
                .mapToInt(
                    link ->
                        Math.min(link.getValue(), other.getValue().getOrDefault(link.getKey(), 0)))
                .sum();
        if (!one.equals(other) && direct + shared > 0) {
          labels.put(one.getKey() + " " + other.getKey(), "NV" + (direct + shared));
        }
      }
    }
    return labels;
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
    String model = model(node);
    List<String> below = new ArrayList<>(above);
    below.add(bus);
    if (node.children().isEmpty()) {
      function(node, numa, above, bus);
    }
    for (XmlNode child : node.children()) {
      switch (child.name()) {
        case "gpu" -> {
          String name = host + "gpu" + child.number("dev");
          add(child, new MachineDevice(name, Kind.GPU, bus, numa, above, ncclLink(node), model));
          nvlinks(child, name, bus);
        }
        case "nic" -> nets(child, numa, above, bus, node);
        default -> ncclPci(child, numa, below);
      }
    }
  }

  /** A function that an input of NCCL names by its class alone: NCCL finds out what it is. */
  private void function(XmlNode node, int numa, List<String> above, String bus)
      throws ConfigException {
    String type = node.attributes().getOrDefault("class", "").replaceFirst("^0x", "");
    boolean gpu = type.matches("(0302|0300|0380|1200).*");
    boolean hca = type.matches("(0200|0207).*");
    if (gpu || hca) {
      Kind kind = gpu ? Kind.GPU : Kind.HCA;
      add(node, new MachineDevice(next(kind), kind, bus, numa, above, ncclLink(node), model(node)));
    }
  }

  /** Returns a name for a device that the file has none for. */
  private String next(Kind kind) {
    long number = devices.stream().filter(device -> device.kind() == kind).count();
    return host + (kind == Kind.GPU ? "gpu" : "nic") + number;
  }

  private void nvlinks(XmlNode gpu, String name, String bus) throws ConfigException {
    buses.put(name, bus);
    Map<String, Integer> found = links.computeIfAbsent(name, _ -> new HashMap<>());
    for (XmlNode child : gpu.children()) {
      if (child.name().equals("nvlink")) {
        String target = child.attributes().getOrDefault("target", "");
        String type = child.attributes().getOrDefault("tclass", "");
        String other =
            type.startsWith("0x03") ? "bus " + target : type.equals(NVSWITCH) ? type : target;
        found.merge(other, child.number("count"), Integer::sum);
      }
    }
    if (gpu.children().stream().anyMatch(child -> child.name().equals("c2c"))) {
      MachineDevice last = devices.removeLast();
      devices.add(last.with(last.model() + " C2C"));
    }
  }

  private static String model(XmlNode pci) {
    String vendor = pci.attributes().getOrDefault("vendor", "");
    return vendor.isEmpty() ? "" : vendor + ":" + pci.attributes().getOrDefault("device", "");
  }

  private void nets(XmlNode nic, int numa, List<String> above, String bus, @Nullable XmlNode pci)
      throws ConfigException {
    for (XmlNode net : nic.children()) {
      if (net.name().equals("net") && !net.get("name").startsWith("wl")) {
        Link link = pci == null ? null : ncclLink(pci);
        String model = pci == null ? "" : model(pci);
        add(net, new MachineDevice(ncclName(net), Kind.HCA, bus, numa, above, link, model));
      }
    }
  }

  /** NCCL has an entry for each port of an HCA, with the HCA's name: further ports get a number. */
  private String ncclName(XmlNode net) throws ConfigException {
    String name = host + net.get("name");
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
    double rate = Double.parseDouble(matcher.group(1));
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
    return new MachineMap("lstopo", devices, 1, Map.of(), Map.of());
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
    boolean gpu = pciType.matches("(0302|0300 .10de|1200 .1002|0380 .1002).*");
    String model = pciType.replaceFirst("^.*\\[([0-9a-f:]+)\\].*$", "$1");
    if (gpu) {
      add(
          node,
          new MachineDevice(next(Kind.GPU), Kind.GPU, bus, numa, above, lstopoLink(node), model));
    }
    for (XmlNode child : node.children()) {
      boolean rdma = "3".equals(child.attributes().get("osdev_type"));
      if (rdma || "OpenFabrics".equals(child.attributes().get("subtype"))) {
        add(
            child,
            new MachineDevice(
                child.get("name"), Kind.HCA, bus, numa, above, lstopoLink(node), model));
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

  /** An XML element with its attributes and its line. Document types and entities are ignored. */
  record XmlNode(
      String file, String name, Map<String, String> attributes, List<XmlNode> children, int line) {
    /** Deeper files are no machines. */
    private static final int DEEPEST = 64;

    static XmlNode parse(String file, String text) throws ConfigException {
      XMLInputFactory factory = XMLInputFactory.newFactory();
      factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
      factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
      ArrayDeque<XmlNode> open = new ArrayDeque<>();
      try {
        XMLStreamReader reader = factory.createXMLStreamReader(new StringReader(text));
        while (reader.hasNext()) {
          int event = reader.next();
          if (event == XMLStreamConstants.START_ELEMENT) {
            Map<String, String> attributes = new LinkedHashMap<>();
            for (int i = 0; i < reader.getAttributeCount(); i++) {
              attributes.put(reader.getAttributeLocalName(i), reader.getAttributeValue(i));
            }
            XmlNode node =
                new XmlNode(
                    file,
                    reader.getLocalName(),
                    attributes,
                    new ArrayList<>(),
                    reader.getLocation().getLineNumber());
            if (open.size() == DEEPEST) {
              throw node.problem("elements are nested deeper than %d".formatted(DEEPEST));
            }
            if (!open.isEmpty()) {
              open.getLast().children.add(node);
            }
            open.add(node);
          } else if (event == XMLStreamConstants.END_ELEMENT && open.size() > 1) {
            open.removeLast();
          }
        }
      } catch (XMLStreamException e) {
        int line = e.getLocation() == null ? 1 : e.getLocation().getLineNumber();
        throw problem(file, line, "this is no XML: " + text(e));
      } catch (MissingResourceException _) {
        // The JDK's parser has no text for an invalid character in a document type.
        throw problem(file, 1, "this is no XML: a character of its document type is not allowed");
      }
      return open.getFirst();
    }

    private static String text(XMLStreamException e) {
      String message = String.valueOf(e.getMessage());
      int at = message.indexOf("Message: ");
      return (at < 0 ? message : message.substring(at + "Message: ".length()))
          .lines()
          .findFirst()
          .orElse("");
    }

    String get(String attribute) throws ConfigException {
      String value = attributes.get(attribute);
      if (value == null || value.isBlank()) {
        throw problem("<%s> has no %s".formatted(name, attribute));
      }
      return value;
    }

    int number(String attribute) throws ConfigException {
      String value = get(attribute);
      try {
        return Integer.parseInt(value);
      } catch (NumberFormatException e) {
        throw problem("%s of <%s> is '%s', no whole number".formatted(attribute, name, value));
      }
    }

    ConfigException problem(String what) {
      return problem(file, line, what);
    }

    static ConfigException problem(String file, int line, String what) {
      return new ConfigException(
          List.of(
              Problem.of("DB-T020", "%s:%d".formatted(file, line), what)
                  .effect("the machine was not read")
                  .fix(
                      "write the file anew: NCCL_TOPO_DUMP_FILE=FILE, nvidia-smi topo -m, or lstopo"
                          + " --of xml")));
    }
  }
}
