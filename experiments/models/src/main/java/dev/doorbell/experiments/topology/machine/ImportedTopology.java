package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.topology.machine.AnalyticalNetwork.Dimension;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Link;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Topologies for experiments from imported machines and networks: what the file says is the file's,
 * all prices are those of a topology that comes with the program.
 */
public final class ImportedTopology {
  /** Lines that hold for the base alone: comments, and the measurements that it stands for. */
  private static final Pattern OF_THE_BASE = Pattern.compile("#|rows: |left_out: ");

  private static final Pattern SECTION = Pattern.compile("(\\w+):$|  - name: (\\S+)");
  private static final Pattern VALUE = Pattern.compile("  (ranks|latency_ns|rate_gb_s): .*");

  private static final Pattern CAP = Pattern.compile("\\s*\\w*_cap_gb_s: (?:\\{value: )?([0-9.]+)");

  private static final String AMAZON = "0x1d0f:";
  private static final String ONE_GPU_A_NODE = "h200-cx7";
  private static final String NVLINK = "h800-cx7";

  private ImportedTopology() {}

  /** Returns true for an EFA: no topology has its prices. */
  public static boolean isWithoutPrices(MachineDevice hca) {
    return hca.model().startsWith(AMAZON);
  }

  /** The topology whose GPU and HCA are as far apart, as measured at an H200 and a ConnectX-7. */
  public static String base(PciDistance distance) {
    return switch (distance) {
      case PIX, PXB -> ONE_GPU_A_NODE;
      case PHB, NODE -> "h200-cx7-rc";
      case SYS -> "h200nvl-cx7-far";
    };
  }

  /** The topology whose prices a network gets. */
  public static String base(AnalyticalNetwork network) {
    return network.inside() == null ? ONE_GPU_A_NODE : NVLINK;
  }

  /**
   * The text of a topology file with the links of a machine.
   *
   * @param name of the topology
   * @param source the imported file's name
   * @throws ConfigException when the base cannot be read
   */
  public static String text(
      MachineMap map, MachineDevice gpu, MachineDevice hca, String name, String source)
      throws ConfigException {
    PciDistance distance = map.distance(gpu, hca);
    double slowest = Math.min(rate(gpu.link()), rate(hca.link()));
    return rewritten(
        base(distance),
        name,
        "%s and %s (%s)".formatted(gpu.name(), hca.name(), distance),
        "%s, %s".formatted(map.format(), source),
        (section, line) -> {
          Matcher cap = CAP.matcher(line);
          if (cap.lookingAt() && Double.parseDouble(cap.group(1)) >= slowest) {
            return "";
          }
          return switch (section) {
            case "gpu-slot" -> trained(line, gpu.link());
            case "nic-slot" -> trained(line, hca.link());
            default -> line;
          };
        });
  }

  /**
   * The text of a topology file with the bandwidths and latencies of a network.
   *
   * @param name of the topology
   * @param source the imported file's name
   * @throws ConfigException when the base cannot be read
   */
  public static String text(AnalyticalNetwork network, String name, String source)
      throws ConfigException {
    return rewritten(
        base(network),
        name,
        network.toString(),
        "network of ASTRA-sim, " + source,
        (section, line) -> {
          Dimension dimension =
              section.equals("network")
                  ? network.outside()
                  : section.equals("nvlink") ? network.inside() : null;
          Matcher value = VALUE.matcher(line);
          if (dimension == null || !value.matches()) {
            return line;
          }
          double number =
              switch (value.group(1)) {
                case "ranks" -> dimension.npus();
                case "latency_ns" -> dimension.nanos();
                default -> dimension.bytesPerNano();
              };
          return "  %s: {value: %s, source: \"cited: %s of %s\"}"
              .formatted(value.group(1), number, dimension, quoted(source));
        });
  }

  /**
   * Rewrites a topology that comes with the program.
   *
   * @param edit what becomes of a line, by its section (a key of the top, or a link's name); an
   *     empty text leaves it out
   */
  private static String rewritten(
      String base, String name, String description, String source, BinaryOperator<String> edit)
      throws ConfigException {
    List<String> lines = new ArrayList<>();
    String section = "";
    lines.add("# %s, imported".formatted(description));
    for (String line : TopologyFile.text(base).lines().toList()) {
      Matcher begin = SECTION.matcher(line);
      if (begin.lookingAt()) {
        section = begin.group(1) == null ? begin.group(2) : begin.group(1);
      }
      if (line.startsWith("name: ")) {
        lines.add("name: " + name);
      } else if (line.startsWith("description: ")) {
        lines.add("description: \"%s, prices of %s\"".formatted(quoted(description), base));
      } else if (line.startsWith("source: ")) {
        lines.add(
            "source: \"cited: imported from %s; prices as %s\"".formatted(quoted(source), base));
      } else if (!OF_THE_BASE.matcher(line).lookingAt()) {
        String edited = edit.apply(section, line);
        if (line.isEmpty() || !edited.isEmpty()) {
          lines.add(edited);
        }
      }
    }
    return String.join("\n", lines) + "\n";
  }

  private static String quoted(String text) {
    return text.replace('"', '\'').replace('\\', '/');
  }

  private static double rate(@Nullable Link link) {
    return link == null
        ? Double.MAX_VALUE
        : dev.doorbell.core.fabric.timed.machine.Link.rate(link.generation(), link.lanes());
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
