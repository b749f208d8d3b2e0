package dev.doorbell.doctor.facts;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An RDMA device of {@code /sys/class/infiniband}.
 *
 * @param name such as {@code mlx5_0}
 * @param pciAddress of its PCI function, which several have where a NIC has sub-functions; empty
 *     for software devices such as rxe
 * @param uverbsNode whether its {@code /dev/infiniband/uverbsN} is there for this process
 * @param trafficClass set for all of its verbs queue pairs; empty when none is
 */
public record RdmaDevice(
    String name,
    Optional<String> pciAddress,
    boolean uverbsNode,
    List<RdmaPort> ports,
    Optional<Integer> trafficClass) {
  private static final String CLASS = "sys/class/infiniband";
  private static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

  /**
   * A file that Soft-RoCE alone has. Before Linux 5.11 its device link leads to the PCI function of
   * the NIC that it runs over.
   */
  private static final String SOFT_ROCE = "parent";

  private static final Pattern SUB_FUNCTION = Pattern.compile("mlx5_core\\.sf\\.\\d+");
  private static final Pattern RATE = Pattern.compile("(\\d{1,5}(?:\\.\\d+)?) Gb/sec.*");
  private static final Pattern TRAFFIC_CLASS =
      Pattern.compile("(?:Global tclass=)?(\\d{1,3})\\b.*", Pattern.DOTALL);

  public RdmaDevice {
    ports = List.copyOf(ports);
  }

  /** Reads every device of {@code /sys/class/infiniband}. */
  static List<RdmaDevice> read(Root root) {
    return root.names(CLASS).stream().map(name -> device(root, name)).toList();
  }

  private static RdmaDevice device(Root root, String name) {
    String at = CLASS + "/" + name;
    return new RdmaDevice(
        name,
        root.exists(at + "/" + SOFT_ROCE) ? Optional.empty() : address(root, at + "/device"),
        uverbs(root, name),
        root.names(at + "/ports").stream()
            .filter(port -> port.matches("\\d{1,3}"))
            .map(port -> port(root, at + "/ports/" + port, Integer.parseInt(port)))
            .toList(),
        root.text(at + "/tc/1/traffic_class")
            .map(TRAFFIC_CLASS::matcher)
            .filter(Matcher::matches)
            .map(matcher -> Integer.parseInt(matcher.group(1))));
  }

  /** Returns the address of the function, or of the parent of a sub-function. */
  private static Optional<String> address(Root root, String device) {
    List<String> path = root.realParts(device);
    int last = path.size() - 1;
    if (last > 0 && SUB_FUNCTION.matcher(path.get(last)).matches()) {
      last--;
    }
    return last < 0 ? Optional.empty() : Optional.of(path.get(last)).filter(PciFunction::isAddress);
  }

  private static boolean uverbs(Root root, String device) {
    String nodes = "sys/class/infiniband_verbs";
    return root.names(nodes).stream()
        .filter(node -> root.text(nodes + "/" + node + "/ibdev").equals(Optional.of(device)))
        .anyMatch(node -> root.exists("dev/infiniband/" + node));
  }

  private static RdmaPort port(Root root, String at, int number) {
    List<RdmaPort.GidEntry> gids = gids(root, at);
    Optional<String> netdev =
        root.names(at + "/gid_attrs/ndevs").stream()
            .flatMap(index -> root.text(at + "/gid_attrs/ndevs/" + index).stream())
            .filter(name -> !name.isEmpty())
            .findFirst();
    return new RdmaPort(
        number,
        word(root, at + "/state"),
        root.text(at + "/link_layer").orElse(""),
        root.text(at + "/rate")
            .map(RATE::matcher)
            .filter(Matcher::matches)
            .map(matcher -> Double.parseDouble(matcher.group(1)))
            .orElse(0.0),
        root.number(at + "/lid").orElse(0L).intValue(),
        gids,
        netdev,
        netdev
            .flatMap(name -> root.number("sys/class/net/" + name + "/mtu"))
            .orElse(0L)
            .intValue());
  }

  /** {@code ACTIVE} of {@code 4: ACTIVE}. */
  private static String word(Root root, String path) {
    return root.text(path).map(text -> text.substring(text.indexOf(':') + 1).strip()).orElse("");
  }

  private static List<RdmaPort.GidEntry> gids(Root root, String at) {
    List<RdmaPort.GidEntry> gids = new ArrayList<>();
    List<Integer> indices =
        root.names(at + "/gids").stream()
            .filter(name -> name.matches("\\d{1,4}"))
            .map(Integer::parseInt)
            .sorted()
            .toList();
    for (int index : indices) {
      String value = root.text(at + "/gids/" + index).orElse(NO_GID);
      if (!value.equals(NO_GID)) {
        gids.add(
            new RdmaPort.GidEntry(
                index, value, root.text(at + "/gid_attrs/types/" + index).orElse("")));
      }
    }
    return gids;
  }
}
