package dev.doorbell.experiments.config;

import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import java.util.List;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/** Writes an experiment out with nothing left to be guessed, in one order. */
final class Resolver {
  private static final YAMLMapper YAML =
      YAMLMapper.builder()
          .enable(YAMLWriteFeature.MINIMIZE_QUOTES)
          .enable(YAMLWriteFeature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
          .disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
          .disable(YAMLWriteFeature.SPLIT_LINES)
          .build();

  private final Schema schema;

  Resolver(Schema schema) {
    this.schema = schema;
  }

  static String yaml(ObjectNode resolved) {
    return YAML.writeValueAsString(resolved);
  }

  /** A resolved experiment without the fixed settings that are not wanted. */
  static String yaml(String resolved, Predicate<String> fixed) {
    ObjectNode root = (ObjectNode) YAML.readTree(resolved);
    ObjectNode settings = (ObjectNode) root.get("fixed");
    settings.remove(settings.propertyNames().stream().filter(fixed.negate()).toList());
    return yaml(root);
  }

  ObjectNode resolve(ObjectNode root, SettingsReader settings) {
    ObjectNode resolved = JsonNodeFactory.instance.objectNode();
    resolved.set("experiment", root.get("experiment"));
    resolved.set("question", root.get("question"));
    if (root.has("expectation")) {
      resolved.set("expectation", root.get("expectation"));
    }
    if (root.has("expect")) {
      resolved.set("expect", root.get("expect"));
    }
    ArrayNode kernels = resolved.putArray("kernel");
    settings.kernels().forEach(kernels::add);
    for (String key : List.of("gpu", "hca", "clock", "seed")) {
      resolved.set(key, orStandard(root, key, "/properties/" + key));
    }
    ObjectNode axes = resolved.putObject("axes");
    for (Axis axis : settings.axes()) {
      ArrayNode values = axes.putArray(axis.name());
      axis.values().forEach(value -> values.add(node(value)));
    }
    ObjectNode fixed = resolved.putObject("fixed");
    settings.fixed().forEach((name, value) -> fixed.set(name, node(value)));
    if (root.has("exclude")) {
      resolved.set("exclude", root.get("exclude"));
    }
    ObjectNode measure = resolved.putObject("measure");
    measure.set("metrics", root.get("measure").get("metrics"));
    for (String key : List.of("warmup", "samples", "timeout")) {
      measure.set(
          key, orStandard(root.get("measure"), key, "/properties/measure/properties/" + key));
    }
    // Written where it is asked for alone: without it the experiment is the one that it always was.
    for (String key : List.of("launches", "repeat", "processes", "until")) {
      JsonNode given = root.get("measure").get(key);
      if (given != null) {
        measure.set(key, given);
      }
    }
    if (root.has("faults")) {
      resolved.set("faults", root.get("faults"));
    }
    if (root.has("outputs")) {
      resolved.set("outputs", root.get("outputs"));
    }
    return resolved;
  }

  private JsonNode orStandard(JsonNode parent, String key, String pointer) {
    JsonNode given = parent.get(key);
    return given != null ? given : schema.standard(pointer);
  }

  private static JsonNode node(Value value) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    return switch (value) {
      case Value.Text(String text) -> json.stringNode(text);
      case Value.Whole(long number) -> json.numberNode(number);
      case Value.Real(double number) -> json.numberNode(number);
      case Value.Flag(boolean yes) -> json.booleanNode(yes);
    };
  }
}
