package dev.doorbell.experiments.config;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Reads conditions on points: a mapping from settings to a value, a list of values or a comparison.
 *
 * @param kind what the names are called in problems
 * @param names that may be used
 */
record ConditionReader(String kind, Collection<String> names, Marks marks, List<Problem> problems) {

  /** The conditions of a mapping; none where it is absent. */
  List<Condition> read(JsonNode node, String pointer) {
    List<Condition> conditions = new ArrayList<>();
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      String name = entry.getKey();
      String at = Marks.child(pointer, name);
      if (!names.contains(name)) {
        problems.add(
            Problem.of(
                "DB-C010",
                marks.ofKey(at),
                "unknown %s '%s'%s".formatted(kind, name, Nearest.suggestion(name, names))));
      } else if (entry.getValue().isArray()) {
        conditions.add(
            new Condition(name, Condition.Comparison.EQUAL, Schema.strings(entry.getValue())));
      } else {
        conditions.add(
            Condition.ofConfig(name, entry.getValue().asString(), marks.ofValue(at), problems));
      }
    }
    return conditions;
  }
}
