package dev.doorbell.experiments.topology.machine;

import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Link;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * GPUs and HCAs of a machine, and how far they are from each other.
 *
 * @param format what the file is
 * @param devices in the order of the file
 * @param portsOfSwitch bridges below the last shared one of two devices under one switch: 0 where a
 *     switch is one bridge, 1 where its downstream ports are bridges, too
 * @param matrix distances by "a b", where the file has them in place of a tree
 * @param labels words of the file for a pair "a b", such as NV4
 */
public record MachineMap(
    String format,
    List<MachineDevice> devices,
    int portsOfSwitch,
    Map<String, PciDistance> matrix,
    Map<String, String> labels) {

  public MachineMap {
    devices = List.copyOf(devices);
    matrix = Map.copyOf(matrix);
    labels = Map.copyOf(labels);
  }

  public List<MachineDevice> of(MachineDevice.Kind kind) {
    return devices.stream().filter(device -> device.kind() == kind).toList();
  }

  /**
   * The device of a name.
   *
   * @throws NoSuchElementException when there is none; the message has all names
   */
  public MachineDevice device(String name) {
    return devices.stream()
        .filter(device -> device.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> {
              List<String> names = devices.stream().map(MachineDevice::name).toList();
              return new NoSuchElementException(
                  "no device '%s'; there are %s".formatted(name, String.join(", ", names)));
            });
  }

  /** Returns how far two devices are from each other. */
  public PciDistance distance(MachineDevice a, MachineDevice b) {
    PciDistance known = matrix.get(a.name() + " " + b.name());
    if (known != null) {
      return known;
    }
    return a.numa() != b.numa() || !a.host().equals(b.host())
        ? PciDistance.SYS
        : PciDistance.of(a.bridges(), b.bridges(), portsOfSwitch);
  }

  /** Returns the file's own word for the link of two devices, else their distance. */
  public String link(MachineDevice a, MachineDevice b) {
    String word = labels.get(a.name() + " " + b.name());
    if (word != null) {
      return word;
    }
    return a.host().equals(b.host()) ? distance(a, b).name() : "NET";
  }

  /** Returns what a TLP passes from one device to another. */
  public List<String> path(MachineDevice a, MachineDevice b) {
    if (!matrix.isEmpty() || !a.host().equals(b.host())) {
      return List.of(a.name(), "(%s)".formatted(link(a, b)), b.name());
    }
    int shared = a.numa() == b.numa() ? PciDistance.shared(a.bridges(), b.bridges()) : 0;
    List<String> hops = new ArrayList<>(List.of(a.name()));
    hops.addAll(a.bridges().subList(Math.max(0, shared - 1), a.bridges().size()).reversed());
    if (shared == 0) {
      hops.add("cpu%d".formatted(a.numa()));
      if (a.numa() != b.numa()) {
        hops.add("cpu%d".formatted(b.numa()));
      }
    }
    hops.addAll(b.bridges().subList(shared, b.bridges().size()));
    hops.add(b.name());
    return hops;
  }

  /** The HCA that is nearest to a GPU. */
  public Optional<MachineDevice> nearestHca(MachineDevice gpu) {
    return of(MachineDevice.Kind.HCA).stream()
        .filter(hca -> hca.host().equals(gpu.host()))
        .min((one, other) -> distance(gpu, one).compareTo(distance(gpu, other)));
  }

  /** Returns what is odd, one sentence each. */
  public List<String> findings() {
    List<String> findings = new ArrayList<>();
    for (MachineDevice device : devices) {
      int best =
          devices.stream()
              .filter(other -> other.kind() == device.kind())
              .filter(other -> other.model().equals(device.model()))
              .flatMap(other -> Optional.ofNullable(other.link()).stream())
              .mapToInt(MachineDevice.Link::weight)
              .max()
              .orElse(0);
      if (device.link() != null && device.link().weight() < best) {
        findings.add(
            "%s is trained at %s, others of its kind higher: reseat it, or look at the slot's bifurcation"
                .formatted(device.name(), device.link()));
      }
    }
    for (MachineDevice gpu : of(MachineDevice.Kind.GPU)) {
      nearestHca(gpu)
          .filter(hca -> distance(gpu, hca).compareTo(PciDistance.PHB) > 0)
          .ifPresent(
              hca ->
                  findings.add(
                      "%s has no HCA at its own CPU: the nearest, %s, is %s"
                          .formatted(gpu.name(), hca.name(), distance(gpu, hca))));
    }
    for (MachineDevice hca : of(MachineDevice.Kind.HCA)) {
      List<MachineDevice> gpus =
          of(MachineDevice.Kind.GPU).stream().filter(gpu -> gpu.host().equals(hca.host())).toList();
      if (gpus.stream().allMatch(gpu -> distance(gpu, hca) == PciDistance.SYS)) {
        findings.add("%s is behind another socket than every GPU".formatted(hca.name()));
      }
    }
    return findings;
  }

  /**
   * A GPU or an HCA.
   *
   * @param name gpu0, or what the file calls the HCA
   * @param bus PCI address; empty where the file has none
   * @param numa node, or -1
   * @param bridges above it, outermost first
   * @param link of its slot, or null where the file does not say it
   * @param model vendor and device, or what else the file says of it; empty where it says nothing
   */
  public record MachineDevice(
      String name,
      Kind kind,
      String bus,
      int numa,
      List<String> bridges,
      @Nullable Link link,
      String model) {
    /** Kind of device. */
    public enum Kind {
      GPU,
      HCA
    }

    /** A PCIe link as it is trained. */
    public record Link(int generation, int lanes) {
      @Override
      public String toString() {
        return "Gen%d x%d".formatted(generation, lanes);
      }

      /** Raw bits a second of all lanes, for comparing. */
      int weight() {
        return lanes << generation;
      }
    }

    public MachineDevice {
      bridges = List.copyOf(bridges);
    }

    /** Returns the host in a file of several, such as {@code host0.}; empty in one of one. */
    String host() {
      return name.startsWith("host") ? name.substring(0, name.indexOf('.') + 1) : "";
    }

    /** Returns the device with another model. */
    MachineDevice with(String other) {
      return new MachineDevice(name, kind, bus, numa, bridges, link, other);
    }
  }

  /**
   * Topologies for experiments from imported machines: the tree and the links are the machine's,
   * all prices those of the topology that has the same distance, as measured at an H200 and a
   * ConnectX-7.
   */
  public static final class MachineTopology {
    /** What holds for the base alone: comments, and the measurements that it stands for. */
    private static final Pattern OF_THE_BASE = Pattern.compile("#|rows: |left_out: ");

    private static final Pattern CAP =
        Pattern.compile("\\s*\\w*_cap_gb_s: (?:\\{value: )?([0-9.]+)");

    private static final String AMAZON = "0x1d0f:";

    private MachineTopology() {}

    /** Whether an HCA is one whose prices no topology has: an EFA. */
    public static boolean isWithoutPrices(MachineDevice hca) {
      return hca.model().startsWith(AMAZON);
    }

    /** The topology whose GPU and HCA are as far apart. */
    public static String base(PciDistance distance) {
      return switch (distance) {
        case PIX, PXB -> "h200-cx7";
        case PHB, NODE -> "h200-cx7-rc";
        case SYS -> "h200nvl-cx7-far";
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
      lines.add(
          "# %s and %s of an imported machine (%s)".formatted(gpu.name(), hca.name(), distance));
      double slowest = Math.min(rate(gpu.link()), rate(hca.link()));
      for (String line : TopologyFile.text(base(distance)).lines().toList()) {
        Matcher cap = CAP.matcher(line);
        boolean capsNothing = cap.lookingAt() && Double.parseDouble(cap.group(1)) >= slowest;
        if (line.startsWith("name: ")) {
          lines.add("name: " + name);
        } else if (line.startsWith("description: ")) {
          lines.add(
              "description: %s and %s (%s), prices of %s"
                  .formatted(gpu.name(), hca.name(), distance, base(distance)));
        } else if (line.startsWith("source: ")) {
          lines.add(
              "source: \"%s; prices as %s\"".formatted(origin.replace('"', '\''), base(distance)));
        } else if (!OF_THE_BASE.matcher(line).lookingAt() && !capsNothing) {
          slot = line.contains("- name: ") ? line.substring(line.indexOf("name: ") + 6) : slot;
          Link link =
              slot.equals("gpu-slot") ? gpu.link() : slot.equals("nic-slot") ? hca.link() : null;
          lines.add(trained(line, link));
        }
      }
      return String.join("\n", lines) + "\n";
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
}
