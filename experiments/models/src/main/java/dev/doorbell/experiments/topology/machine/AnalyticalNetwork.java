package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A network as ASTRA-sim's analytical back end describes it, in one or two dimensions. A dimension
 * that is faster than a slot of PCIe is NVLink within a node.
 *
 * @param inside NVLink; null without
 * @param outside the network between nodes; null where all is one node
 */
public record AnalyticalNetwork(@Nullable Dimension inside, @Nullable Dimension outside) {
  private static final Pattern FILE = Pattern.compile("\\bnpus_count\"?\\s*:");
  private static final double GIB = 1 << 30;

  /** Bytes a nanosecond of a slot of 16 lanes of PCIe 5.0. */
  private static final double SLOT = 64;

  private static final SchemaChecker CHECKER =
      new SchemaChecker(
          JsonMapper.shared()
              .readTree(
                  """
                  {"required": ["topology", "npus_count", "bandwidth", "latency"],
                   "properties": {
                     "topology": {"type": "array", "minItems": 1, "maxItems": 2,
                       "items": {"enum": ["Ring", "Switch"]}},
                     "npus_count": {"type": "array",
                       "items": {"type": "integer", "minimum": 2, "maximum": 1024}},
                     "bandwidth": {"type": "array",
                       "items": {"type": "number", "minimum": 0.001, "maximum": 5000}},
                     "latency": {"type": "array",
                       "items": {"type": "number", "minimum": 0, "maximum": 100000000}}}}
                  """));

  /**
   * A dimension.
   *
   * @param shape what joins the NPUs
   * @param npus that it joins
   * @param bandwidth GiB a second of a link, each direction
   * @param latency of a link, in nanoseconds
   */
  public record Dimension(String shape, int npus, double bandwidth, double latency) {
    double bytesPerNano() {
      return bandwidth * GIB / 1e9;
    }

    /** From one NPU to its neighbour: a switch lies between two links. */
    double nanos() {
      return shape.equals("Switch") ? 2 * latency : latency;
    }

    @Override
    public String toString() {
      return "%s of %d NPUs, %s GiB/s, %s ns".formatted(shape, npus, bandwidth, latency);
    }
  }

  /** Returns true for the text of such a file. */
  public static boolean is(String text) {
    return FILE.matcher(text).find();
  }

  /**
   * Reads a file.
   *
   * @throws ConfigException with everything that is wrong
   */
  public static AnalyticalNetwork read(String file, String text) throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, "network");
    JsonNode root = document.root();
    ConfigException.throwIfAny(CHECKER.check(root, document.positions()));
    List<Dimension> dimensions = new ArrayList<>();
    int count = root.path("topology").size();
    for (String key : List.of("npus_count", "bandwidth", "latency")) {
      if (root.path(key).size() != count) {
        throw refused(
            document, key, "%d numbers for %d dimensions".formatted(root.path(key).size(), count));
      }
    }
    for (int i = 0; i < count; i++) {
      dimensions.add(
          new Dimension(
              root.at("/topology/" + i).asString(),
              root.at("/npus_count/" + i).asInt(),
              root.at("/bandwidth/" + i).asDouble(),
              root.at("/latency/" + i).asDouble()));
    }
    Dimension first = dimensions.getFirst();
    boolean nvlink = count > 1 || first.bytesPerNano() > SLOT;
    if (count > 1 && dimensions.getLast().bytesPerNano() > SLOT) {
      throw refused(document, "bandwidth", "more between nodes than a slot of PCIe 5.0 carries");
    }
    return new AnalyticalNetwork(
        nvlink ? first : null, nvlink && count == 1 ? null : dimensions.getLast());
  }

  private static ConfigException refused(YamlDocument.Parsed document, String key, String what) {
    return new ConfigException(
        Problem.of("DB-T020", document.positions().ofValue("/" + key), what)
            .fix("one or two dimensions, a number of each for both"));
  }

  @Override
  public String toString() {
    return inside == null
        ? String.valueOf(outside)
        : outside == null ? inside.toString() : inside + "; " + outside;
  }
}
