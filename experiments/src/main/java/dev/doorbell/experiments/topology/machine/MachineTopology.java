package dev.doorbell.experiments.topology.machine;

import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Link;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Topologies for experiments from imported machines: the tree and the links are the machine's, all
 * prices those of the topology that has the same distance.
 */
public final class MachineTopology {
  private MachineTopology() {}

  /** The topology whose GPU and HCA are as far apart. */
  public static String base(PciDistance distance) {
    return switch (distance) {
      case PIX, PXB -> "same-switch";
      case PHB, NODE -> "cross-rc";
      case SYS -> "cross-socket";
    };
  }

  /**
   * The text of a topology file.
   *
   * @param name of the topology
   * @param source the imported file's name
   * @throws TopologyException when the base cannot be read
   */
  public static String text(
      MachineMap map, MachineDevice gpu, MachineDevice hca, String name, String source)
      throws TopologyException {
    PciDistance distance = map.distance(gpu, hca);
    List<String> lines = new ArrayList<>();
    String slot = "";
    String origin = "cited: imported from %s, %s".formatted(map.format(), source);
    for (String line : TopologyFile.text(base(distance)).lines().toList()) {
      if (line.startsWith("# ")) {
        lines.add(
            "# %s and %s of an imported machine (%s)".formatted(gpu.name(), hca.name(), distance));
      } else if (line.startsWith("name: ")) {
        lines.add("name: " + name);
      } else if (line.startsWith("description: ")) {
        lines.add(
            "description: %s and %s (%s), prices of %s"
                .formatted(gpu.name(), hca.name(), distance, base(distance)));
      } else if (line.startsWith("source: ")) {
        lines.add(
            "source: \"%s; prices as %s\"".formatted(origin.replace('"', '\''), base(distance)));
      } else {
        slot = line.contains("- name: ") ? line.substring(line.indexOf("name: ") + 6) : slot;
        Link link =
            slot.equals("gpu-slot") ? gpu.link() : slot.equals("nic-slot") ? hca.link() : null;
        lines.add(trained(line, link));
      }
    }
    return String.join("\n", lines) + "\n";
  }

  private static String trained(String line, @Nullable Link link) {
    if (link != null && line.strip().startsWith("generation: ")) {
      return "    generation: " + link.generation();
    }
    if (link != null && line.strip().startsWith("lanes: ")) {
      return "    lanes: " + link.lanes();
    }
    return line;
  }
}
