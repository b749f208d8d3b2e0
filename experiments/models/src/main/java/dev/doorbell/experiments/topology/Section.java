package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A mapping of a topology file that its schema has found valid. Every number is a constant with a
 * source: its own, written {@code {value: 300, source: "cited: ..."}}, or that of the nearest
 * mapping around it that has a {@code source}.
 *
 * @param name how keys of its constants begin; empty at the top
 * @param pointer where it lies in the file
 * @param source source of its constants that have none of their own; null where none is given
 */
record Section(
    ConstantRecorder recorder,
    String name,
    String pointer,
    JsonNode node,
    @Nullable String source) {

  private static final List<String> UNITS = List.of("gb_s", "bytes", "ns", "ghz", "cycles");

  private Section inner(String innerName, String innerPointer, JsonNode inner) {
    String own = inner.path("source").asString("");
    return new Section(recorder, innerName, innerPointer, inner, own.isEmpty() ? source : own);
  }

  static Section top(ConstantRecorder recorder, JsonNode root) {
    return new Section(recorder, "", "", root, null).inner("", "", root);
  }

  /** Puts numbers in the place of those with a source, in all of a node; returns the node. */
  static JsonNode plain(JsonNode node) {
    if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, plain(array.get(i)));
      }
    } else if (node instanceof ObjectNode object) {
      if (object.has("value")) {
        return object.get("value");
      }
      object.properties().forEach(entry -> entry.setValue(plain(entry.getValue())));
    }
    return node;
  }

  boolean has(String key) {
    return node.has(key);
  }

  String text(String key) {
    return node.path(key).asString("");
  }

  List<String> words(String key) {
    return node.path(key).valueStream().map(JsonNode::asString).toList();
  }

  Section section(String key) {
    return inner(path(key), pointer + "/" + key, node.path(key));
  }

  /**
   * Elements of a list, which may be absent.
   *
   * @param names gives the name of an element by its place, from 0, and its node
   */
  List<Section> elements(String key, BiFunction<Integer, JsonNode, String> names) {
    List<Section> elements = new ArrayList<>();
    for (JsonNode element : node.path(key)) {
      String at = pointer + "/" + key + "/" + elements.size();
      elements.add(inner(names.apply(elements.size(), element), at, element));
    }
    return elements;
  }

  double number(String key) {
    return constant(key, JsonNode::asDouble);
  }

  /** A number, or {@code absent} where the key is missing. */
  double number(String key, double absent) {
    return has(key) ? number(key) : absent;
  }

  boolean flag(String key, boolean absent) {
    return has(key) ? constant(key, value -> value.asBoolean() ? 1 : 0) != 0 : absent;
  }

  private double constant(String key, Function<JsonNode, Number> reader) {
    JsonNode value = node.path(key);
    String own = source;
    if (value.isObject()) {
      own = section(key).source;
      value = value.path("value");
    }
    double number = reader.apply(value).doubleValue();
    recorder.places.put(path(key), pointer + "/" + key);
    if (own == null) {
      problem(
          key,
          "DB-T007",
          ("'%s' has no source; write {value: ..., source: \"assumed: ...\"} or give its section a"
                  + " source")
              .formatted(key));
      return number;
    }
    String words = own;
    Origin origin =
        Stream.of(Origin.values())
            .filter(each -> words.startsWith(each.word()))
            .findFirst()
            .orElseThrow();
    String rest = words.substring(origin.word().length());
    recorder.constants.add(
        new Constant(
            path(key),
            number,
            unit(key),
            origin,
            rest.startsWith(":") ? rest.substring(1).strip() : rest.strip()));
    return number;
  }

  private static String unit(String key) {
    return UNITS.stream()
        .filter(unit -> key.equals(unit) || key.endsWith("_" + unit))
        .findFirst()
        .orElse("");
  }

  private String path(String key) {
    return name.isEmpty() ? key : name + "." + key;
  }

  /** Adds a problem at a key; at the section where {@code key} is empty. */
  void problem(String key, String code, String what) {
    String at = key.isEmpty() ? pointer : pointer + "/" + key;
    recorder.problems.add(Problem.of(code, recorder.positions.ofValue(at), what));
  }

  /**
   * Collects the constants and problems of a topology file while it is read.
   *
   * @param places where constants lie in the file, by their keys
   */
  record ConstantRecorder(
      SourcePositions positions,
      Map<String, String> places,
      List<Constant> constants,
      List<Problem> problems) {

    ConstantRecorder(SourcePositions positions) {
      this(positions, new HashMap<>(), new ArrayList<>(), new ArrayList<>());
    }

    /** Writes another value of a constant into the file that was read. */
    void replace(JsonNode root, String key, double value) {
      String place = places.getOrDefault(key, "");
      int end = place.lastIndexOf('/');
      if (end < 0) {
        return;
      }
      ObjectNode section = (ObjectNode) root.at(place.substring(0, end));
      String name = place.substring(end + 1);
      boolean whole = value == Math.rint(value) && Math.abs(value) < Long.MAX_VALUE;
      JsonNode number =
          whole
              ? JsonNodeFactory.instance.numberNode((long) value)
              : JsonNodeFactory.instance.numberNode(value);
      if (section.get(name) instanceof ObjectNode withSource) {
        withSource.set("value", number);
      } else {
        section.set(name, number);
      }
    }
  }
}
