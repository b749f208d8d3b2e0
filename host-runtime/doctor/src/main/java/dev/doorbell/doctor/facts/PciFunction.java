package dev.doorbell.doctor.facts;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One function of a PCI device.
 *
 * @param address such as {@code 0000:9a:00.0}
 * @param hostBridge the root bus that it hangs from, such as {@code pci0000:97}
 * @param bridges addresses of the bridges between root bus and function, outermost first
 * @param classCode 24 bits: class, subclass, programming interface
 * @param driver that has taken it; empty when none has
 * @param numaNode −1 when the firmware does not say
 * @param bars sizes of the base address registers, one of 64 bits counted once; 0 where unused
 * @param iommuGroup type of its IOMMU group, such as {@code identity}; empty without an IOMMU
 * @param config what of its config space could be read
 */
public record PciFunction(
    String address,
    String hostBridge,
    List<String> bridges,
    int vendor,
    int device,
    int classCode,
    Optional<String> driver,
    int numaNode,
    Link link,
    List<Long> bars,
    Optional<String> iommuGroup,
    PciConfig config) {
  /**
   * A PCIe link as sysfs shows it.
   *
   * @param speed transfers per second and lane now, in GT/s; 0 where unknown
   * @param width lanes now; 0 where unknown
   */
  public record Link(double speed, int width, double maxSpeed, int maxWidth) {
    private static final double GEN3 = 8;
    private static final double GEN6 = 64;

    public boolean known() {
      return speed > 0 && width > 0 && maxSpeed > 0 && maxWidth > 0;
    }

    /** Gigabits per second of the link as it is, after line encoding, before TLP headers. */
    public double gigabits() {
      double encoding = speed >= GEN6 || speed <= 0 ? 1 : speed >= GEN3 ? 128 / 130.0 : 0.8;
      return speed * width * encoding;
    }
  }

  static final int NVIDIA = 0x10de;
  static final int MELLANOX = 0x15b3;
  private static final int DISPLAY = 0x03;
  private static final int NETWORK = 0x02;
  private static final int CLASS_SHIFT = 16;
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  private static final String DEVICES = "sys/bus/pci/devices";
  private static final int BARS = 6;

  /** The kernel's IORESOURCE_MEM_64. */
  private static final long WIDE = 0x100000;

  public PciFunction {
    bridges = List.copyOf(bridges);
    bars = List.copyOf(bars);
  }

  public boolean nvidiaGpu() {
    return vendor == NVIDIA && classCode >> CLASS_SHIFT == DISPLAY;
  }

  public boolean mellanoxNic() {
    return vendor == MELLANOX && classCode >> CLASS_SHIFT == NETWORK;
  }

  /** Virtual functions of ConnectX have device numbers of their own. */
  public boolean mellanoxVirtualFunction() {
    return mellanoxNic()
        && switch (device) {
          case 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e -> true;
          default -> false;
        };
  }

  static boolean isAddress(String name) {
    return ADDRESS.matcher(name).matches();
  }

  /** Reads every function of {@code /sys/bus/pci/devices}. */
  static List<PciFunction> read(Root root) {
    return root.names(DEVICES).stream()
        .filter(PciFunction::isAddress)
        .map(name -> function(root, name))
        .toList();
  }

  private static PciFunction function(Root root, String address) {
    String at = DEVICES + "/" + address;
    List<String> path = root.realParts(at);
    List<String> bridges = path.stream().filter(PciFunction::isAddress).toList();
    return new PciFunction(
        address,
        path.stream()
            .filter(part -> part.startsWith("pci"))
            .filter(part -> part.contains(":"))
            .findFirst()
            .orElse(""),
        bridges.isEmpty() ? List.of() : bridges.subList(0, bridges.size() - 1),
        number(root, at + "/vendor"),
        number(root, at + "/device"),
        number(root, at + "/class"),
        root.target(at + "/driver"),
        root.number(at + "/numa_node").orElse(-1L).intValue(),
        link(root, at),
        bars(root, at),
        root.text(at + "/iommu_group/type"),
        root.bytes(at + "/config").map(PciConfig::parse).orElse(PciConfig.UNREAD));
  }

  private static int number(Root root, String path) {
    return root.number(path).orElse(0L).intValue();
  }

  private static Link link(Root root, String at) {
    return new Link(
        speed(root, at + "/current_link_speed"),
        number(root, at + "/current_link_width"),
        speed(root, at + "/max_link_speed"),
        number(root, at + "/max_link_width"));
  }

  /** {@code 32.0 GT/s PCIe}, or {@code Unknown} as virtual machines have it. */
  private static double speed(Root root, String path) {
    return root.text(path)
        .map(text -> text.split(" ", 2)[0])
        .filter(word -> word.matches("\\d{1,4}(\\.\\d+)?"))
        .map(Double::parseDouble)
        .orElse(0.0);
  }

  /**
   * Lines of {@code start end flags}, in hexadecimal; unused ones are zeroes. A register of 64 bits
   * takes two lines, the second of which says nothing; one that has no address starts at 0.
   */
  private static List<Long> bars(Root root, String at) {
    List<Long> sizes = new ArrayList<>();
    List<String> lines = root.lines(at + "/resource");
    for (int i = 0; i < Math.min(BARS, lines.size()); i++) {
      String[] words = lines.get(i).split(" ", -1);
      if (words.length != 3 || !List.of(words).stream().allMatch(PciFunction::isHex)) {
        break;
      }
      long start = hex(words[0]);
      long end = hex(words[1]);
      sizes.add(start != 0 && end > start ? end - start + 1 : 0);
      if ((hex(words[2]) & WIDE) != 0) {
        i++;
      }
    }
    sizes.addAll(Collections.nCopies(BARS - sizes.size(), 0L));
    return sizes;
  }

  private static boolean isHex(String word) {
    return word.matches("0x[0-9a-f]{1,16}");
  }

  private static long hex(String word) {
    return Long.parseUnsignedLong(word.substring(2), 16);
  }
}
