package dev.doorbell.experiments.config;

import dev.doorbell.core.Sha256;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Value;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * The hash of everything in a resolved experiment that decides its results, and of nothing else:
 * runs of equal hash were asked the same.
 *
 * <p>Values are hashed as they were resolved, never as "the default": when a default changes, so
 * does the hash of each experiment that relied on it. A setting that a later Doorbell brings says
 * in the schema ({@code x-before}) with which value runs are what they were before it; with that
 * value it is left out, so that hashes of before stay what they were.
 */
final class ConfigHash {
  /** Keys of an experiment that decide its results, with {@code measure} by its own list. */
  static final List<String> DECIDING =
      List.of("kernel", "gpu", "hca", "clock", "seed", "axes", "fixed", "exclude", "faults");

  /** Keys of {@code measure} that do; what they were before they existed is to be without them. */
  static final List<String> DECIDING_MEASURE =
      List.of("metrics", "warmup", "samples", "launches", "repeat", "processes", "until");

  private static final String FIXED = "fixed";
  private static final String MEASURE = "measure";

  /** Keys whose value 1 is the same as their absence. */
  private static final Set<String> TIMES = Set.of("repeat", "processes");

  /** Settings that are gone, and their values in every hash of before and since. */
  private static final Map<String, JsonNode> GONE =
      Map.of(
          "hold", IntNode.valueOf(500_000),
          "remedy", StringNode.valueOf("reset"),
          "fault", StringNode.valueOf("none"),
          "silence", IntNode.valueOf(6_000_000));

  private static final String LAUNCHES = "launches";

  private ConfigHash() {}

  /** Launches that an experiment had at most before they were a setting. */
  private static int launchesBefore(JsonNode measure) {
    return Schema.strings(measure.get("metrics")).contains("rate") ? 5 : 3;
  }

  /** Takes out what versions that had the settings wrote into each resolved experiment. */
  static void dropGone(ObjectNode root) {
    if (root.get(FIXED) instanceof ObjectNode fixed) {
      GONE.forEach(
          (name, value) -> {
            if (value.asString().equals(fixed.path(name).asString(""))) {
              fixed.remove(name);
            }
          });
    }
  }

  static String of(Schema schema, ObjectNode resolved) {
    return Sha256.hex(canonical(schema, resolved).toString());
  }

  /** Returns the text that is hashed, which is one for all equivalent notations. */
  static ObjectNode canonical(Schema schema, ObjectNode resolved) {
    ObjectNode canonical = JsonNodeFactory.instance.objectNode();
    for (String key : DECIDING) {
      if (resolved.has(key)) {
        canonical.set(
            key, key.equals(FIXED) ? fixed(schema, resolved.get(key)) : resolved.get(key));
      }
    }
    JsonNode given = resolved.get(MEASURE);
    ObjectNode measure = canonical.putObject(MEASURE);
    for (String key : DECIDING_MEASURE) {
      boolean once = TIMES.contains(key) && given.path(key).asInt(1) == 1;
      boolean before = key.equals(LAUNCHES) && given.path(key).asInt(0) == launchesBefore(given);
      if (given.has(key) && !once && !before) {
        measure.set(key, given.get(key));
      }
    }
    return canonical;
  }

  /** Sorts settings by name: their order in the schema does not matter. */
  private static ObjectNode fixed(Schema schema, JsonNode given) {
    Map<String, JsonNode> counted = new TreeMap<>(GONE);
    given
        .properties()
        .forEach(
            entry -> {
              Value before = schema.before(entry.getKey());
              if (!Schema.value(entry.getValue()).equals(before)) {
                counted.put(entry.getKey(), entry.getValue());
              }
            });
    ObjectNode fixed = JsonNodeFactory.instance.objectNode();
    counted.forEach(fixed::set);
    return fixed;
  }
}
