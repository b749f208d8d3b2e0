package dev.doorbell.experiments.topology.machine;

import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
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

    /** Returns the host in a file of several, such as {@code host0.}; empty in one of one. */
    String host() {
      return name.startsWith("host") ? name.substring(0, name.indexOf('.') + 1) : "";
    }

    /** Returns the device with another model. */
    MachineDevice with(String other) {
      return new MachineDevice(name, kind, bus, numa, bridges, link, other);
    }
  }
}
