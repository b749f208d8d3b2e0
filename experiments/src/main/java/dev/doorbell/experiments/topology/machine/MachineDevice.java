package dev.doorbell.experiments.topology.machine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A GPU or an HCA.
 *
 * @param name gpu0, or what the file calls the HCA
 * @param bus PCI address; empty where the file has none
 * @param numa node, or -1
 * @param bridges above it, outermost first
 * @param link of its slot, or null where the file does not say it
 */
public record MachineDevice(
    String name, Kind kind, String bus, int numa, List<String> bridges, @Nullable Link link) {
  /** What it is. */
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
}
