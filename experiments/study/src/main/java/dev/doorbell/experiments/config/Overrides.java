package dev.doorbell.experiments.config;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Sweep;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Changes that the command line makes to a config: {@code -s key=value}. A comma makes a sweep; a
 * fixed setting that is given several values becomes the last axis.
 */
final class Overrides {
  private static final String METRICS = "metrics";

  private final Schema schema;
  private final ObjectNode root;
  private final SourcePositions positions;
  private final List<Problem> problems;

  private final Set<String> given = new HashSet<>();

  Overrides(Schema schema, ObjectNode root, SourcePositions positions, List<Problem> problems) {
    this.schema = schema;
    this.root = root;
    this.positions = positions;
    this.problems = problems;
  }

  void apply(String override) {
    String where = "-s " + override;
    int equals = override.indexOf('=');
    if (equals <= 0 || equals == override.length() - 1) {
      problems.add(Problem.of("DB-C040", where, "an override is key=value, such as -s size=64,4K"));
      return;
    }
    String key = override.substring(0, equals).strip();
    if (!given.add(key)) {
      problems.add(
          Problem.of("DB-C016", where, "'%s' is given twice".formatted(key))
              .fix("one -s a key; a comma makes a sweep: -s %s=A,B".formatted(key)));
      return;
    }
    JsonNode value;
    try {
      // The commas of a device filter make no sweep.
      value =
          key.equals("hca")
              ? JsonNodeFactory.instance.stringNode(override.substring(equals + 1).strip())
              : value(where, override.substring(equals + 1).strip());
    } catch (ConfigException e) {
      problems.addAll(e.problems());
      return;
    }
    if (schema.settings().containsKey(key)) {
      setting(key, value, where);
    } else if (key.startsWith("axes.") || key.startsWith("fixed.")) {
      int dot = key.indexOf('.');
      if (key.equals("axes.kernel")) {
        root.remove("kernel");
      }
      put(key.substring(0, dot), key.substring(dot + 1), value, where);
    } else if (key.startsWith("measure.")) {
      put("measure", key.substring("measure.".length()), value, where);
    } else if (key.equals(METRICS)) {
      put("measure", key, list(value), where);
      keepOutputs(Schema.strings(list(value)));
    } else if (schema.measureKeys().contains(key)) {
      put("measure", key, value, where);
    } else if (key.equals("kernel") && root.path("axes").has(key)) {
      put("axes", key, value, where);
    } else if (schema.topLevel().contains(key)) {
      root.set(key, value);
      positions.override("/" + key, where);
    } else {
      problems.add(
          Problem.of(
              "DB-C010",
              where,
              "unknown setting '%s'%s".formatted(key, Nearest.suggestion(key, names()))));
    }
  }

  private static ArrayNode list(JsonNode value) {
    return value instanceof ArrayNode many ? many : JsonNodeFactory.instance.arrayNode().add(value);
  }

  /** Figures and crossovers of metrics that are not asked for any more are not asked for either. */
  private void keepOutputs(List<String> metrics) {
    JsonNode outputs = root.path("outputs");
    drop(outputs.path("figures"), "y", metrics);
    drop(outputs.path("crossovers"), "metric", metrics);
  }

  private static void drop(JsonNode list, String key, List<String> metrics) {
    if (list instanceof ArrayNode many) {
      for (int i = many.size() - 1; i >= 0; i--) {
        JsonNode named = many.get(i).path(key);
        if (named.isString() && !metrics.contains(named.stringValue())) {
          many.remove(i);
        }
      }
    }
  }

  private Set<String> names() {
    Set<String> names = new TreeSet<>(schema.settings().keySet());
    names.addAll(schema.measureKeys());
    names.addAll(schema.topLevel());
    return names;
  }

  private void setting(String key, JsonNode value, String where) {
    boolean sweeps = value.isArray() || (value.isString() && Sweep.isCall(value.stringValue()));
    boolean isAxis = root.path("axes").has(key);
    if (isAxis || sweeps) {
      if (root.path("fixed") instanceof ObjectNode fixed && !isAxis) {
        fixed.remove(key);
        positions.forget("/fixed/" + key);
      }
      put("axes", key, value, where);
    } else {
      put("fixed", key, value, where);
    }
  }

  private void put(String section, String key, JsonNode value, String where) {
    JsonNode target = root.get(section);
    if (target == null) {
      target = root.putObject(section);
    }
    if (target instanceof ObjectNode object) {
      object.set(key, value);
      positions.override(SourcePositions.child("/" + section, key), where);
    }
    // Otherwise the section is no mapping, which the schema says with its place in the file.
  }

  private static JsonNode value(String where, String text) throws ConfigException {
    List<String> parts = Sweep.split(text);
    if (parts.size() == 1) {
      return YamlDocument.parseFragment(where, text);
    }
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    for (String part : parts) {
      list.add(YamlDocument.parseFragment(where, part));
    }
    return list;
  }
}
