package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineReader.XmlNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Matrices of links: {@code nvidia-smi topo -m} with its columns of CPUs and NUMA nodes and its
 * legend of NICs, and {@code rocm-smi --showtopo}, of which the link types and nodes are taken.
 */
final class LinkMatrix {
  private static final Pattern LEGEND = Pattern.compile("\\s*(NIC[0-9]+): (\\S+)\\s*");
  private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]*m");
  private static final Pattern SPACES = Pattern.compile("\\s+");
  private static final Pattern CELL =
      Pattern.compile("NV[0-9]{1,2}|NODE|SYS|SOC|PIX|PXB|PHB|C2C|XGMI|PCIE|X");
  private static final Pattern ROCM_NODE =
      Pattern.compile("GPU\\[(\\d+)\\]\\s*: \\(Topology\\) Numa Node: (-?\\d{1,4})\\b");

  /** Word for two HCAs whose rows are not there. */
  private static final String UNKNOWN = "-";

  private final String file;
  private final List<String> lines;
  private final Map<String, String> legend = new HashMap<>();
  private final Map<String, Integer> nodes = new HashMap<>();
  private final Map<String, String> words = new HashMap<>();
  private final List<MachineDevice> devices = new ArrayList<>();

  private LinkMatrix(String file, String text) {
    this.file = file;
    this.lines = COLOUR.matcher(text).replaceAll("").lines().toList();
    for (String line : lines) {
      Matcher matcher = LEGEND.matcher(line);
      if (matcher.matches()) {
        legend.put(matcher.group(1), matcher.group(2));
      }
      Matcher node = ROCM_NODE.matcher(line);
      if (node.find()) {
        nodes.put("GPU" + node.group(1), Integer.parseInt(node.group(2)));
      }
    }
  }

  static MachineMap read(String file, String text) throws ConfigException {
    return new LinkMatrix(file, text).read();
  }

  private MachineMap read() throws ConfigException {
    boolean rocm = lines.stream().anyMatch(line -> line.contains("Link Type between two GPUs"));
    int head = 0;
    boolean open = !rocm;
    while (head < lines.size() && !(open && lines.get(head).strip().startsWith("GPU0"))) {
      open |= lines.get(head).contains("Link Type between two GPUs");
      head++;
    }
    if (head == lines.size()) {
      throw XmlNode.problem(
          file, 1, "this is neither XML nor a matrix that begins with a line of GPU0, GPU1, ...");
    }
    List<String> heads = Arrays.asList(lines.get(head).strip().split("\\s+"));
    List<String> columns =
        heads.stream().takeWhile(word -> !word.equals("CPU") && !word.equals("NUMA")).toList();
    boolean cpus = heads.contains("CPU");
    boolean numa = heads.contains("NUMA");
    for (int row = 0; row < columns.size(); row++) {
      row(head + 1 + row, columns, row, cpus, numa, rocm);
    }
    Map<String, PciDistance> matrix = new HashMap<>();
    Map<String, String> labels = new HashMap<>();
    for (int row = 0; row < devices.size(); row++) {
      for (int other = 0; other < devices.size(); other++) {
        MachineDevice a = devices.get(row);
        MachineDevice b = devices.get(other);
        String back = words.getOrDefault(b.name() + " " + a.name(), UNKNOWN);
        String word = words.getOrDefault(a.name() + " " + b.name(), back);
        if (other < row && !back.equals(UNKNOWN) && !word.equals(back)) {
          throw XmlNode.problem(
              file,
              head + 2 + row,
              "%s to %s is %s, back it is %s".formatted(a.name(), b.name(), word, back));
        }
        if (other != row) {
          matrix.put(a.name() + " " + b.name(), distance(head + 2 + row, word, a, b));
          labels.put(a.name() + " " + b.name(), word);
        }
      }
    }
    return new MachineMap(
        rocm ? "rocm-smi --showtopo" : "nvidia-smi topo -m", devices, 0, matrix, labels);
  }

  private void row(
      int number, List<String> columns, int row, boolean cpus, boolean numa, boolean rocm)
      throws ConfigException {
    String column = columns.get(row);
    String name = name(column);
    Kind kind = column.startsWith("GPU") ? Kind.GPU : Kind.HCA;
    String line = number < lines.size() ? lines.get(number).strip() : "";
    if (kind == Kind.HCA && !line.matches("((GPU|NIC)\\d+|[a-z]\\w*)\\s.*")) {
      // Its row was not pasted; those of the GPUs have its distances.
      devices.add(new MachineDevice(name, kind, "", -1, List.of(), null, ""));
      return;
    }
    List<String> cells = cells(line, columns.size() + 1);
    if (!cells.getFirst().equals(column)) {
      throw XmlNode.problem(
          file, number + 1, "'%s' where the row of %s belongs".formatted(cells.getFirst(), column));
    }
    if (cells.size() <= columns.size()) {
      throw XmlNode.problem(
          file,
          number + 1,
          "%d distances of %s, of %d".formatted(cells.size() - 1, column, columns.size()));
    }
    List<String> rest = cells.subList(columns.size() + 1, cells.size());
    int node = nodes.getOrDefault(column, -1);
    // A list has the CPUs' own node first, and then those of memory on GPUs.
    String near = numa && rest.size() > (cpus ? 1 : 0) ? rest.get(cpus ? 1 : 0) : "";
    if (near.matches("\\d{1,4}([,-].*)?")) {
      node = Integer.parseInt(near.replaceFirst("\\D.*", ""));
    }
    String cores = cpus && !rest.isEmpty() ? rest.getFirst() : "";
    devices.add(
        new MachineDevice(
            name, kind, "", node, List.of(), null, cores.isEmpty() ? "" : "CPUs " + cores));
    for (int other = 0; other < columns.size(); other++) {
      if (other != row) {
        String word = cells.get(other + 1);
        words.put(name + " " + name(columns.get(other)), rocm && word.equals("0") ? "X" : word);
      }
    }
  }

  /** Words of a row; cells that stick to each other are parted until there are enough. */
  private static List<String> cells(String line, int wanted) {
    List<String> cells = new ArrayList<>();
    for (String word : SPACES.split(line.strip(), -1)) {
      List<String> parts = new ArrayList<>();
      Matcher cell = CELL.matcher(word);
      int at = 0;
      while (at < word.length() && cell.find(at) && cell.start() == at) {
        parts.add(cell.group());
        at = cell.end();
      }
      boolean split = at > 0 && at == word.length() && cells.size() < wanted;
      cells.addAll(split ? parts : List.of(word));
    }
    return cells;
  }

  private String name(String column) {
    return column.startsWith("GPU")
        ? "gpu" + column.substring(3)
        : legend.getOrDefault(column, column);
  }

  /** NVLink is no way to an HCA: such GPUs are as near as a switch, and keep their own word. */
  private PciDistance distance(int line, String word, MachineDevice a, MachineDevice b)
      throws ConfigException {
    if (word.matches("NV[0-9]+|C2C|XGMI|X")) {
      return PciDistance.PIX;
    }
    if (word.equals(UNKNOWN)) {
      return PciDistance.SYS;
    }
    if (word.equals("PCIE")) {
      return a.numa() == b.numa() ? PciDistance.PHB : PciDistance.SYS;
    }
    String known = word.equals("SOC") ? "SYS" : word;
    return Arrays.stream(PciDistance.values())
        .filter(distance -> distance.name().equals(known))
        .findFirst()
        .orElseThrow(
            () ->
                XmlNode.problem(
                    file,
                    line,
                    "'%s' is no distance: X, NV#, C2C, PIX, PXB, PHB, NODE or SYS"
                        .formatted(word)));
  }
}
