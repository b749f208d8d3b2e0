package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.value.RecordCopy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** A topology with one parameter changed: the values of the {@code variant} setting. */
public enum TopologyVariant {
  AS_IS,
  /** PCIe links of generation 4. */
  GEN4,
  /** PCIe links of eight lanes. */
  LANES8,
  /** TLPs carry 128 bytes at most. */
  PAYLOAD128,
  /** The HCA asks for 4096 bytes at once. */
  REQUEST4096,
  /** Completers answer reads in pieces of 64 bytes, as with a read completion boundary of 64. */
  COMPLETIONS64,
  /** The HCA has 32 reads outstanding at most. */
  TAGS32,
  /** Every hop takes twice as long. */
  FAR;

  public static TopologyVariant of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** Returns the topology with this change, which its name and its constants state. */
  public Topology of(Topology base) {
    return switch (this) {
      case AS_IS -> base;
      case GEN4 -> pcie(base, 4, link -> trained(4, link.lanes()));
      case LANES8 -> pcie(base, 8, link -> trained(link.generation(), 8));
      case PAYLOAD128 -> pcie(base, 128, _ -> Map.of("maxPayload", 128));
      case REQUEST4096 -> nics(base, "maxReadRequest", 4096);
      case TAGS32 -> nics(base, "readTags", 32);
      case COMPLETIONS64 ->
          changed(base, 64, "gpus", copies(base.gpus(), _ -> Map.of("completionBytes", 64)));
      case FAR -> changed(base, 2, "paths", copies(base.paths(), path -> far(path, 2)));
    };
  }

  private Topology changed(Topology base, double value, String component, List<?> parts) {
    String word = name().toLowerCase(Locale.ROOT);
    List<Constant> constants = new ArrayList<>(base.constants());
    constants.add(new Constant("variant", value, "", Constant.Origin.ASSUMED, "what if: " + word));
    return RecordCopy.with(
        base, Map.of("name", base.name() + "+" + word, "constants", constants, component, parts));
  }

  private static <R extends Record> List<R> copies(
      List<R> parts, Function<R, Map<String, ?>> changes) {
    return parts.stream().map(part -> RecordCopy.with(part, changes.apply(part))).toList();
  }

  /** Changes PCIe links alone; interconnects of the host stay. */
  private Topology pcie(Topology base, double value, Function<Link, Map<String, ?>> changes) {
    List<Link> links =
        copies(base.links(), link -> link.generation() == 0 ? Map.of() : changes.apply(link));
    return changed(base, value, "links", links);
  }

  private static Map<String, ?> trained(int generation, int lanes) {
    return Map.of(
        "generation", generation, "lanes", lanes, "bytesPerNano", Link.rate(generation, lanes));
  }

  private Topology nics(Topology base, String component, int value) {
    return changed(base, value, "nics", copies(base.nics(), _ -> Map.of(component, value)));
  }

  private static Map<String, ?> far(Path path, double times) {
    return Map.of(
        "hops", path.hops().stream().map(hop -> new Hop(hop.link(), times * hop.nanos())).toList());
  }

  /**
   * A topology at another SM clock. A piece of a GPU's work takes C cycles and B nanoseconds, C / f
   * + B: cycles are what a thread spends inside of the GPU, on instructions, caches, atomics and
   * fences; nanoseconds are the ways over PCIe, the answers of memory to devices and copy engines.
   */
  public static final class SmClock {
    private static final double MHZ = 1e3;

    private SmClock() {}

    /**
     * The topology with all GPUs at {@code mhz}.
     *
     * @throws ConfigException when it does not say at which clock its prices are
     */
    public static Topology at(Topology base, int mhz) throws ConfigException {
      List<GpuPrices> gpus = new ArrayList<>();
      List<Constant> constants = new ArrayList<>(base.constants());
      for (int index = 0; index < base.gpus().size(); index++) {
        String key = "gpu%d.clock_ghz".formatted(index);
        double own =
            base.constants().stream()
                .filter(each -> each.key().equals(key))
                .mapToDouble(Constant::value)
                .findAny()
                .orElseThrow(() -> withoutClock(base, key));
        gpus.add(Prices.scaled(base.gpus().get(index), own * MHZ / mhz));
        constants.removeIf(each -> each.key().equals(key));
        constants.add(
            new Constant(
                key, mhz / MHZ, "ghz", Constant.Origin.ASSUMED, "what if: prices are cycles"));
      }
      return RecordCopy.with(base, Map.of("gpus", gpus, "constants", constants));
    }

    private static ConfigException withoutClock(Topology base, String key) {
      return new ConfigException(
          List.of(
              Problem.of(
                      "DB-T017",
                      base.name(),
                      "sm_mhz needs the SM clock of the topology's prices, '%s'".formatted(key))
                  .fix(
                      "say it in the topology, clock_ghz: {value: 1.98, source: ...}, or leave out"
                          + " sm_mhz")));
    }
  }
}
