package dev.doorbell.verbs.device;

import java.util.ArrayList;
import java.util.List;

/**
 * The devices and ports that may be used, in the syntax of NCCL's variable {@code NCCL_IB_HCA}.
 *
 * <pre>
 *   mlx5             devices whose names begin with mlx5, any port
 *   mlx5_0:1,mlx5_2  port 1 of the one, any port of the other (mlx5_0 also matches mlx5_01)
 *   =mlx5_1          only the device of exactly that name
 *   ^mlx5_3          all devices but those;  ^=mlx5_3  all but exactly that one
 * </pre>
 */
public final class DeviceFilter {
  /** Accepts every device and port. */
  public static final DeviceFilter ALL = new DeviceFilter("", false, false, List.of());

  private static final int ANY_PORT = 0;
  private static final int MAX_PORT = 255;

  private final String text;
  private final boolean exclude;
  private final boolean exact;
  private final List<Entry> entries;

  private record Entry(String name, int port) {}

  private DeviceFilter(String text, boolean exclude, boolean exact, List<Entry> entries) {
    this.text = text;
    this.exclude = exclude;
    this.exact = exact;
    this.entries = List.copyOf(entries);
  }

  /**
   * Parses a filter; the empty text accepts everything.
   *
   * @throws IllegalArgumentException naming the part that is wrong
   */
  public static DeviceFilter parse(String text) {
    String rest = text;
    boolean exclude = rest.startsWith("^");
    rest = exclude ? rest.substring(1) : rest;
    boolean exact = rest.startsWith("=");
    rest = exact ? rest.substring(1) : rest;
    if (rest.isEmpty()) {
      if (exclude || exact) {
        throw new IllegalArgumentException(
            "HCA filter '%s' names no device; write '%smlx5_0'".formatted(text, text));
      }
      return ALL;
    }
    List<Entry> entries = new ArrayList<>();
    for (String part : rest.split(",", -1)) {
      entries.add(entry(text, part));
    }
    return new DeviceFilter(text, exclude, exact, entries);
  }

  private static Entry entry(String text, String part) {
    int colon = part.indexOf(':');
    String name = colon < 0 ? part : part.substring(0, colon);
    if (!name.matches("[A-Za-z0-9_.-]+")) {
      throw new IllegalArgumentException(
          "HCA filter '%s': '%s' is no device name; write name[:port][,name[:port]...], '=' or '^' only in front of all"
              .formatted(text, part));
    }
    if (colon < 0) {
      return new Entry(name, ANY_PORT);
    }
    String port = part.substring(colon + 1);
    if (!port.matches("[0-9]{1,3}")
        || Integer.parseInt(port) < 1
        || Integer.parseInt(port) > MAX_PORT) {
      throw new IllegalArgumentException(
          "HCA filter '%s': '%s' is no port; write a number from 1 to %d"
              .formatted(text, port, MAX_PORT));
    }
    return new Entry(name, Integer.parseInt(port));
  }

  /** Returns true if {@code port} of {@code device} may be used. */
  public boolean matches(String device, int port) {
    if (entries.isEmpty()) {
      return true;
    }
    boolean named =
        entries.stream()
            .anyMatch(
                entry ->
                    (exact ? device.equals(entry.name) : device.startsWith(entry.name))
                        && (entry.port == ANY_PORT || entry.port == port));
    return named != exclude;
  }

  @Override
  public String toString() {
    return text.isEmpty() ? "any" : text;
  }
}
