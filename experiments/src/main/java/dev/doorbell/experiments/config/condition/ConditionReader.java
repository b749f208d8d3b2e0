package dev.doorbell.experiments.config.condition;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.schema.Schema;
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
public record ConditionReader(
    String kind, Collection<String> names, SourcePositions positions, List<Problem> problems) {

  /** The conditions of a mapping; none where it is absent. */
  public List<PointCondition> read(JsonNode node, String pointer) {
    List<PointCondition> conditions = new ArrayList<>();
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      String name = entry.getKey();
      String at = SourcePositions.child(pointer, name);
      if (!names.contains(name)) {
        problems.add(
            Problem.of(
                "DB-C010",
                positions.ofKey(at),
                "unknown %s '%s'%s".formatted(kind, name, Nearest.suggestion(name, names))));
      } else if (entry.getValue().isArray()) {
        conditions.add(
            new PointCondition(
                name, PointCondition.Comparison.EQUAL, Schema.strings(entry.getValue())));
      } else {
        conditions.add(
            PointCondition.ofConfig(
                name, entry.getValue().asString(), positions.ofValue(at), problems));
      }
    }
    return conditions;
  }
}
