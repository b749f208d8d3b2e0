package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A topology with one parameter changed: the values of the {@code variant} setting. */
public enum TopologyVariant {
  /** Nothing is. */
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

  private static final int GENERATION = 4;
  private static final int LANES = 8;
  private static final int PAYLOAD = 128;
  private static final int REQUEST = 4096;
  private static final int COMPLETION = 64;
  private static final int TAGS = 32;
  private static final int TIMES = 2;

  /** The variant of a word. */
  public static TopologyVariant of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** The topology with this changed; its name and its constants say so. */
  public Topology of(Topology base) {
    return switch (this) {
      case AS_IS -> base;
      case GEN4 ->
          changed(base, pcie(base, link -> rate(link, GENERATION, link.lanes())), GENERATION);
      case LANES8 -> changed(base, pcie(base, link -> rate(link, link.generation(), LANES)), LANES);
      case PAYLOAD128 ->
          changed(
              base, pcie(base, link -> Prices.with(link, Map.of("maxPayload", PAYLOAD))), PAYLOAD);
      case REQUEST4096 ->
          changed(base, Map.of("nics", all(base.nics(), "maxReadRequest", REQUEST)), REQUEST);
      case TAGS32 -> changed(base, Map.of("nics", all(base.nics(), "readTags", TAGS)), TAGS);
      case COMPLETIONS64 ->
          changed(
              base, Map.of("gpus", all(base.gpus(), "completionBytes", COMPLETION)), COMPLETION);
      case FAR ->
          changed(
              base,
              Map.of("paths", base.paths().stream().map(TopologyVariant::far).toList()),
              TIMES);
    };
  }

  private Topology changed(Topology base, Map<String, ?> changes, double value) {
    String word = name().toLowerCase(Locale.ROOT);
    List<Constant> constants = new ArrayList<>(base.constants());
    constants.add(new Constant("variant", value, "", Constant.Origin.ASSUMED, "what if: " + word));
    return Prices.with(
        Prices.with(base, changes),
        Map.of("name", "%s+%s".formatted(base.name(), word), "constants", constants));
  }

  private static <R extends Record> List<R> all(List<R> parts, String component, int value) {
    return parts.stream().map(part -> Prices.with(part, Map.of(component, value))).toList();
  }

  /** Changes PCIe links alone; interconnects of the host stay. */
  private static Map<String, ?> pcie(Topology base, UnaryOperator<Link> change) {
    return Map.of(
        "links",
        base.links().stream()
            .map(link -> link.generation() == 0 ? link : change.apply(link))
            .toList());
  }

  private static Link rate(Link link, int generation, int lanes) {
    return Prices.with(
        link,
        Map.of(
            "generation",
            generation,
            "lanes",
            lanes,
            "bytesPerNano",
            Link.rate(generation, lanes)));
  }

  private static Path far(Path path) {
    return Prices.with(
        path,
        Map.of(
            "hops",
            path.hops().stream().map(hop -> new Hop(hop.link(), TIMES * hop.nanos())).toList()));
  }
}
