package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Link;
import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** An XML element with its attributes and its line. Document types and entities are ignored. */
  private record XmlNode(
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

  /** The text of {@code nvidia-smi topo -m}: a matrix of distances, and a legend of the NICs. */
  private static final class SmiMatrix {
    private static final Pattern COLUMN = Pattern.compile("(GPU|NIC|mlx5_)[0-9]+");
    private static final Pattern LEGEND = Pattern.compile("\\s*(NIC[0-9]+): (\\S+)\\s*");
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]*m");

    private SmiMatrix() {}

    static MachineMap read(String file, String text) throws ConfigException {
      List<String> lines = COLOUR.matcher(text).replaceAll("").lines().toList();
      int head = 0;
      while (head < lines.size() && !lines.get(head).strip().startsWith("GPU0")) {
        head++;
      }
      if (head == lines.size()) {
        throw XmlNode.problem(
            file, 1, "this is neither XML nor a matrix that begins with a line of GPU0, GPU1, ...");
      }
      List<String> columns =
          Arrays.stream(lines.get(head).strip().split("\\s+"))
              .takeWhile(word -> COLUMN.matcher(word).matches())
              .toList();
      Map<String, String> legend = new HashMap<>();
      for (String line : lines) {
        Matcher matcher = LEGEND.matcher(line);
        if (matcher.matches()) {
          legend.put(matcher.group(1), matcher.group(2));
        }
      }
      Map<String, PciDistance> matrix = new HashMap<>();
      List<MachineDevice> devices = new ArrayList<>();
      for (int row = 0; row < columns.size(); row++) {
        int number = head + 1 + row;
        String[] cells =
            number < lines.size() ? lines.get(number).strip().split("\\s+") : new String[] {""};
        if (!cells[0].equals(columns.get(row))) {
          throw XmlNode.problem(
              file,
              number + 1,
              "'%s' where the row of %s belongs".formatted(cells[0], columns.get(row)));
        }
        if (cells.length <= columns.size()) {
          throw XmlNode.problem(
              file,
              number + 1,
              "%d distances of %s, of %d".formatted(cells.length - 1, cells[0], columns.size()));
        }
        String name = name(columns.get(row), legend);
        boolean gpu = columns.get(row).startsWith("GPU");
        devices.add(new MachineDevice(name, gpu ? Kind.GPU : Kind.HCA, "", -1, List.of(), null));
        for (int column = 0; column < columns.size(); column++) {
          if (column != row) {
            matrix.put(
                name + " " + name(columns.get(column), legend),
                distance(file, number + 1, cells[column + 1]));
          }
        }
      }
      for (int row = 0; row < devices.size(); row++) {
        for (int other = 0; other < row; other++) {
          String a = devices.get(row).name();
          String b = devices.get(other).name();
          if (matrix.get(a + " " + b) != matrix.get(b + " " + a)) {
            throw XmlNode.problem(
                file,
                head + 2 + row,
                "%s to %s is %s, back it is %s"
                    .formatted(a, b, matrix.get(a + " " + b), matrix.get(b + " " + a)));
          }
        }
      }
      return new MachineMap("nvidia-smi topo -m", devices, 0, matrix);
    }

    private static String name(String column, Map<String, String> legend) {
      return column.startsWith("GPU")
          ? "gpu" + column.substring(3)
          : legend.getOrDefault(column, column);
    }

    /** NVLink is no way to an HCA: such GPUs are as near as a switch. */
    private static PciDistance distance(String file, int line, String word) throws ConfigException {
      if (word.matches("NV[0-9]+")) {
        return PciDistance.PIX;
      }
      for (PciDistance distance : PciDistance.values()) {
        if (distance.name().equals(word)) {
          return distance;
        }
      }
      throw XmlNode.problem(
          file, line, "'%s' is no distance: X, NV#, PIX, PXB, PHB, NODE or SYS".formatted(word));
    }
  }
}
