package dev.doorbell.experiments.config.schema;

import dev.doorbell.core.Resources;
import dev.doorbell.experiments.config.value.Value;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The JSON schema of experiments, read as the one list of what can be set: names, legal values,
 * defaults, units and meanings.
 */
public final class Schema {
  private static final String FOLDER = "/dev/doorbell/experiments/schema/";
  private static final String SETTINGS = "/$defs/setting";
  private static final String SETTINGS_REF = "#/$defs/setting/";
  private static final String BEFORE = "x-before";

  /**
   * Resource of jars that bring kinds of points: their settings, and metrics with their meanings.
   */
  private static final String KINDS = "META-INF/doorbell/kind.json";

  private static final Schema EXPERIMENT = new Schema(withKinds((ObjectNode) load("experiment")));

  private final JsonNode root;
  private final SequencedMap<String, Setting> settings = new LinkedHashMap<>();
  private @Nullable SchemaChecker checker;

  private Schema(JsonNode root) {
    this.root = root;
    root.at(SETTINGS).propertyNames().forEach(this::writeOut);
    root.at(SETTINGS)
        .properties()
        .forEach(entry -> settings.put(entry.getKey(), setting(entry.getKey(), entry.getValue())));
  }

  /** Lets a setting stand where settings stand: fixed, as an axis, as a list on that axis. */
  private void writeOut(String setting) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    String one = SETTINGS_REF + setting;
    ObjectNode axis = ((ObjectNode) root.at("/$defs/axis")).putObject(setting);
    axis.putObject("if").put("type", "array");
    axis.putObject("then").put("minItems", 1).putObject("items").put("$ref", one);
    axis.putObject("else").put("$ref", one);
    ((ObjectNode) root.at("/properties/axes/properties"))
        .set(setting, json.objectNode().put("$ref", "#/$defs/axis/" + setting));
    ((ObjectNode) root.at("/properties/fixed/properties"))
        .set(setting, json.objectNode().put("$ref", one));
  }

  /** Adds what kinds of points from other jars describe. */
  private static ObjectNode withKinds(ObjectNode root) {
    try {
      for (URL file : Collections.list(Schema.class.getClassLoader().getResources(KINDS))) {
        try (InputStream in = file.openStream()) {
          JsonNode kind = JsonMapper.shared().readTree(in);
          ((ObjectNode) root.at(SETTINGS)).setAll((ObjectNode) kind.path("settings"));
          JsonNode metrics = root.at("/$defs/metric");
          for (Map.Entry<String, JsonNode> metric : kind.path("metrics").properties()) {
            ((ArrayNode) metrics.get("enum")).add(metric.getKey());
            ((ObjectNode) metrics.get("x-values")).set(metric.getKey(), metric.getValue());
            if (metric.getValue().asString().contains("; sampled")) {
              ((ArrayNode) metrics.get("x-sampled")).add(metric.getKey());
            }
          }
        }
      }
      return root;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the checker of these rules, made on the first call. */
  public synchronized SchemaChecker checker() {
    SchemaChecker made = checker;
    if (made == null) {
      made = new SchemaChecker(root);
      checker = made;
    }
    return made;
  }

  /** A schema of experiments as text has it. */
  public static Schema of(JsonNode root) {
    return new Schema(root);
  }

  /** Returns a schema in which settings with {@code x-before} have that value as their default. */
  public Schema asBefore() {
    JsonNode changed = root.deepCopy();
    changed
        .at(SETTINGS)
        .forEach(
            setting -> {
              if (setting.has(BEFORE)) {
                ((ObjectNode) setting).set("default", setting.get(BEFORE));
              }
            });
    return new Schema(changed);
  }

  /**
   * The value of a setting with which runs are what they were before there was that setting; null
   * for those that were there from the beginning.
   */
  public @Nullable Value before(String setting) {
    JsonNode before = root.at(SETTINGS).path(setting).get(BEFORE);
    return before == null ? null : value(before);
  }

  /** The schema of experiment files. */
  public static Schema experiment() {
    return EXPERIMENT;
  }

  public static JsonNode load(String name) {
    return JsonMapper.shared()
        .readTree(Resources.text(Schema.class, FOLDER + name + ".schema.json"));
  }

  public JsonNode root() {
    return root;
  }

  /** Everything that can be an axis or fixed, in the order of the schema. */
  public SequencedMap<String, Setting> settings() {
    return Collections.unmodifiableSequencedMap(settings);
  }

  /** Metrics with their meanings. */
  public SequencedMap<String, String> metrics() {
    SequencedMap<String, String> metrics = new LinkedHashMap<>();
    root.at("/$defs/metric/x-values")
        .properties()
        .forEach(entry -> metrics.put(entry.getKey(), entry.getValue().asString()));
    return metrics;
  }

  /** Returns whether a metric has samples; the others are counted once a point. */
  public boolean isSampled(String metric) {
    return strings(root.at("/$defs/metric/x-sampled")).contains(metric);
  }

  public List<String> topLevel() {
    return List.copyOf(root.at("/properties").propertyNames());
  }

  public List<String> measureKeys() {
    return List.copyOf(root.at("/properties/measure/properties").propertyNames());
  }

  /** The default of a key outside axes and fixed. */
  public JsonNode standard(String pointer) {
    JsonNode node = root.at(pointer).get("default");
    if (node == null) {
      throw new IllegalStateException("the schema has no default at " + pointer);
    }
    return node;
  }

  private Setting setting(String name, JsonNode raw) {
    ObjectNode node = resolve(raw);
    SequencedMap<String, String> words = new LinkedHashMap<>();
    List<Long> numbers = new ArrayList<>();
    if (node.has("enum")) {
      for (JsonNode value : node.get("enum")) {
        if (value.isIntegralNumber()) {
          numbers.add(value.longValue());
        } else {
          String word = value.asString();
          words.put(word, node.at("/x-values").path(word).asString(""));
        }
      }
    }
    JsonNode standard = node.get("default");
    if (standard == null) {
      throw new IllegalStateException("setting %s has no default in the schema".formatted(name));
    }
    Value value = value(standard);
    return new Setting(
        name,
        text(node, "description", ""),
        switch (value) {
          case Value.Text _ -> Setting.Kind.WORD;
          case Value.Flag _ -> Setting.Kind.FLAG;
          case Value.Whole _, Value.Real _ -> Setting.Kind.NUMBER;
        },
        text(node, "x-unit", ""),
        words,
        numbers,
        text(node, "x-is", ""),
        node.path("minimum").asLong(0),
        node.path("maximum").asLong(Long.MAX_VALUE),
        node.path("x-power-of-two").asBoolean(false),
        node.has("x-vocabulary") ? node.get("x-vocabulary").asString() : null,
        value);
  }

  /** A scalar of a config as a value. */
  public static Value value(JsonNode node) {
    if (node.isBoolean()) {
      return new Value.Flag(node.booleanValue());
    }
    if (node.isIntegralNumber()) {
      return new Value.Whole(node.longValue());
    }
    if (node.isNumber()) {
      return new Value.Real(node.doubleValue());
    }
    return new Value.Text(node.asString());
  }

  /** A definition with what it refers to; its own words win. */
  private ObjectNode resolve(JsonNode node) {
    ObjectNode own = (ObjectNode) node.deepCopy();
    @Nullable JsonNode reference = own.remove("$ref");
    if (reference == null) {
      return own;
    }
    ObjectNode merged = resolve(root.at(reference.asString().substring(1)));
    merged.setAll(own);
    return merged;
  }

  private static String text(JsonNode node, String key, String otherwise) {
    return node.path(key).asString(otherwise);
  }

  public static List<String> strings(JsonNode array) {
    List<String> strings = new ArrayList<>();
    array.forEach(element -> strings.add(element.asString("")));
    return strings;
  }

  /**
   * A setting that can be an axis or fixed, as the schema defines it.
   *
   * @param name as in the config
   * @param description one sentence
   * @param unit of numbers; empty for words and counts
   * @param words legal values of a word setting with their meanings; empty when any word, or the
   *     vocabulary, decides
   * @param numbers legal values of a number setting; empty when the range decides
   * @param is what the legal numbers are called, such as {@code an RDMA MTU}
   * @param min smallest number
   * @param max largest number
   * @param vocabulary where legal words come from ({@code topology}), or null
   * @param standard the value when the config says nothing
   */
  public record Setting(
      String name,
      String description,
      Kind kind,
      String unit,
      SequencedMap<String, String> words,
      List<Long> numbers,
      String is,
      long min,
      long max,
      boolean powerOfTwo,
      @Nullable String vocabulary,
      Value standard) {

    public enum Kind {
      WORD,
      NUMBER,
      FLAG
    }

    public Setting {
      words = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(words));
      numbers = List.copyOf(numbers);
    }
  }
}
