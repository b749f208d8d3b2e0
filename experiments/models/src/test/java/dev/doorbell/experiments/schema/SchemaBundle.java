package dev.doorbell.experiments.schema;

import dev.doorbell.experiments.config.schema.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * One schema for every file that a user writes, made of the four: an editor that maps it to {@code
 * *.yaml} completes and explains each by the keys that it has. What values mean is put where
 * editors show it.
 */
final class SchemaBundle {
  static final Path FOLDER = Path.of("schema");
  static final Path FILE = FOLDER.resolve("doorbell.schema.json");

  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** Each kind of file with a key that no other has. */
  private static final Map<String, String> KINDS = new LinkedHashMap<>();

  static {
    KINDS.put("experiment", "experiment");
    KINDS.put("topology", "links");
    KINDS.put("kernel", "measures");
    KINDS.put("faults", "faults");
  }

  private SchemaBundle() {}

  /** The text of the bundle. */
  static String text() {
    JsonNodeFactory json = JsonNodeFactory.instance;
    ObjectNode bundle = json.objectNode();
    bundle.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    bundle.put("$id", "urn:doorbell:schema");
    bundle.put("title", "Doorbell: experiments, topologies, kernel descriptors, fault plans");
    bundle.put(
        "description",
        "Made of the other schemas of this folder by SchemaBundleTest; change those.");
    ObjectNode definitions = json.objectNode();
    JsonNode choice = json.booleanNode(false);
    List<String> kinds = new ArrayList<>(KINDS.keySet());
    for (String kind : kinds.reversed()) {
      ObjectNode step = json.objectNode();
      step.putObject("if").putArray("required").add(KINDS.get(kind));
      step.putObject("then").put("$ref", "#/$defs/" + kind);
      step.set("else", choice);
      choice = step;
    }
    for (String kind : kinds) {
      ObjectNode schema =
          kind.equals("experiment")
              ? (ObjectNode) Schema.experiment().root().deepCopy()
              : (ObjectNode) Schema.load(kind);
      schema.remove(List.of("$schema", "$id", "$comment"));
      move(schema, "#/$defs/" + kind);
      definitions.set(kind, schema);
    }
    bundle.setAll((ObjectNode) choice);
    bundle.set("$defs", definitions);
    return MAPPER.writeValueAsString(bundle) + "\n";
  }

  /** Makes references go to where the schema lies now, and meanings of values be seen. */
  private static void move(JsonNode node, String to) {
    if (node instanceof ObjectNode object) {
      JsonNode reference = object.get("$ref");
      if (reference != null && reference.isString()) {
        object.put("$ref", to + reference.stringValue().substring(1));
      }
      if (object.has("enum") && object.has("x-values")) {
        ArrayNode meanings = object.putArray("markdownEnumDescriptions");
        for (JsonNode value : object.get("enum")) {
          meanings.add(object.get("x-values").path(value.asString()).asString(""));
        }
      }
    }
    node.forEach(child -> move(child, to));
  }
}
