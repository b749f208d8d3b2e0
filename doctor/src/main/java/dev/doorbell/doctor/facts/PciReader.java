package dev.doorbell.doctor.facts;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;

/** Reads every {@link PciFunction} of {@code /sys/bus/pci/devices}. */
final class PciReader {
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  private static final String DEVICES = "sys/bus/pci/devices";
  private static final int BARS = 6;

  /** The kernel's IORESOURCE_MEM_64. */
  private static final long WIDE = 0x100000;

  private PciReader() {}

  static boolean isAddress(String name) {
    return ADDRESS.matcher(name).matches();
  }

  static List<PciFunction> read(Root root) {
    return root.names(DEVICES).stream()
        .filter(PciReader::isAddress)
        .map(name -> function(root, name))
        .toList();
  }

  private static PciFunction function(Root root, String address) {
    String at = DEVICES + "/" + address;
    List<String> path = root.realParts(at);
    List<String> bridges = path.stream().filter(PciReader::isAddress).toList();
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

  private static PciLink link(Root root, String at) {
    return new PciLink(
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
      if (words.length != 3 || !List.of(words).stream().allMatch(PciReader::isHex)) {
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
