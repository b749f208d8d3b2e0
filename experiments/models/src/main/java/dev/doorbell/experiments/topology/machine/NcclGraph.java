package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineReader.XmlNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tree that NCCL prints into its log with {@code NCCL_DEBUG_SUBSYS=GRAPH}: CPUs, and what hangs
 * below them, deeper the farther right it stands.
 */
final class NcclGraph {
  private static final Pattern NODE =
      Pattern.compile(
          "^( *)(?:\\+ (\\w+)\\[([0-9.]+)\\] - )?(CPU|PCI|GPU|NIC|NET|NVS)/([0-9a-fA-F-]+)\\b(?!"
              + " *:)(.*)$");
  private static final Pattern LOG = Pattern.compile("^.*?NCCL INFO ");

  private NcclGraph() {}

  static boolean isGraph(String text) {
    return text.contains("=== System : max") && text.contains("CPU/");
  }

  static MachineMap read(String file, String text) throws ConfigException {
    List<MachineDevice> devices = new ArrayList<>();
    Map<String, String> nvlinks = new HashMap<>();
    List<Integer> depths = new ArrayList<>();
    List<String> path = new ArrayList<>();
    Set<String> names = new HashSet<>();
    int numa = -1;
    for (String line : text.lines().toList()) {
      Matcher node = NODE.matcher(LOG.matcher(line).replaceFirst(""));
      if (!node.matches()) {
        continue;
      }
      int depth = node.group(1).length();
      while (!depths.isEmpty() && depths.getLast() >= depth) {
        depths.removeLast();
        path.removeLast();
      }
      String kind = node.group(4);
      String id = node.group(5);
      boolean root = node.group(2) == null;
      if (kind.equals("CPU") && root) {
        String local = id.substring(id.lastIndexOf('-') + 1);
        numa = local.matches("[0-9a-fA-F]{1,7}") ? Integer.parseInt(local, 16) : -1;
      } else if (kind.equals("GPU") || kind.equals("NET")) {
        boolean gpu = kind.equals("GPU");
        String rank = node.group(6).replaceFirst("^\\s*\\((\\d+).*$", "$1");
        String name =
            gpu && rank.matches("\\d+")
                ? "gpu" + rank
                : (gpu ? "gpu" : "net") + id.substring(id.lastIndexOf('-') + 1);
        List<String> bridges = path.stream().filter(each -> each.startsWith("PCI/")).toList();
        if (!root && !"NVL".equals(node.group(2)) && names.add(name)) {
          devices.add(
              new MachineDevice(
                  name, gpu ? Kind.GPU : Kind.HCA, gpu ? id : "", numa, bridges, null, ""));
        }
      } else if (kind.equals("NVS") && !devices.isEmpty()) {
        nvlinks.put(devices.getLast().name(), node.group(3));
      }
      depths.add(depth);
      path.add(kind + "/" + id);
    }
    if (devices.isEmpty()) {
      throw XmlNode.problem(file, 1, "there is no GPU and no HCA in it");
    }
    Map<String, String> labels = new HashMap<>();
    for (String one : nvlinks.keySet()) {
      for (String other : nvlinks.keySet()) {
        labels.put(one + " " + other, "NVL");
      }
    }
    return new MachineMap("NCCL graph of a log", devices, 0, Map.of(), labels);
  }
}
