package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineReader.XmlNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tree of {@code lspci -tv}. It has no NUMA nodes: host bridges stand in their place, and
 * devices are known by their vendors' words.
 */
final class PciTree {
  private static final Pattern ROOT =
      Pattern.compile("(?m)^ *-?[+\\\\]?-\\[[0-9a-f]{4,}:[0-9a-f]{2}\\]");
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\[([0-9a-f]{4,}:[0-9a-f]{2})\\]|([0-9a-f]{2}\\.[0-7])|\\[([0-9a-f]{2})(?:-[0-9a-f]{2})?\\]");
  private static final Pattern GPU =
      Pattern.compile(
          "NVIDIA(?!.*(Audio|NVSwitch|Bridge|USB|UCSI|BlueField))|Advanced Micro"
              + " Devices.*(Instinct|Aqua|MI[0-9])");
  private static final Pattern HCA =
      Pattern.compile(
          "Mellanox(?!.*(Bridge|DMA))|ConnectX|Elastic Fabric"
              + " Adapter|Broadcom.*(NetXtreme-E|BCM57[45])|Pensando|Cassini|E810|BlueField.*(ConnectX|network)");

  private PciTree() {}

  static boolean isTree(String text) {
    return ROOT.matcher(text).find();
  }

  /** A bridge and the column at which it stands. */
  private record Above(int column, String name) {}

  static MachineMap read(String file, String text) throws ConfigException {
    List<MachineDevice> devices = new ArrayList<>();
    List<Above> path = new ArrayList<>();
    int roots = -1;
    String domain = "0000";
    String bus = "";
    for (String line : text.lines().toList()) {
      int from = 0;
      while (from < line.length() && " |".indexOf(line.charAt(from)) >= 0) {
        from++;
      }
      int start = from;
      path.removeIf(above -> above.column() >= start);
      String words = "";
      String slot = "";
      Matcher token = TOKEN.matcher(line);
      int at = from;
      while (token.find(at)) {
        String between = line.substring(at, token.start());
        if (!between.matches("[-+\\\\ |]*")) {
          break;
        }
        at = token.end();
        if (token.group(1) != null) {
          roots++;
          domain = token.group(1).substring(0, token.group(1).indexOf(':'));
          bus = token.group(1).substring(domain.length() + 1);
          path.clear();
        } else if (token.group(2) != null) {
          slot = token.group(2);
          words = line.substring(at);
          if (words.startsWith("  ")) {
            break;
          }
        } else {
          path.add(new Above(token.start(), "%s:%s:%s".formatted(domain, bus, slot)));
          bus = token.group(3);
        }
      }
      boolean gpu = GPU.matcher(words).find();
      if (words.startsWith("  ") && (gpu || HCA.matcher(words).find())) {
        Kind kind = gpu ? Kind.GPU : Kind.HCA;
        long number = devices.stream().filter(device -> device.kind() == kind).count();
        devices.add(
            new MachineDevice(
                (gpu ? "gpu" : "nic") + number,
                kind,
                "%s:%s:%s".formatted(domain, bus, slot),
                roots,
                path.stream().map(Above::name).toList(),
                null,
                words.strip()));
      }
    }
    if (devices.isEmpty()) {
      throw XmlNode.problem(
          file,
          1,
          "no GPU and no HCA is named in it: lspci -t leaves names out, lspci -tv has them");
    }
    return new MachineMap("lspci -tv, host bridges for NUMA nodes", devices, 1, Map.of(), Map.of());
  }
}
