package dev.doorbell.experiments.config.schema;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Problems of values that are not legal, with the nearest legal ones. */
public final class Suggestions {
  private Suggestions() {}

  /** A word or number that the schema's enumeration lacks. */
  static Problem notAmong(String where, String name, JsonNode value, JsonNode rules) {
    List<String> legal = Schema.strings(rules.path("enum"));
    if (rules.has("x-is")) {
      return Problem.of(
          "DB-C020",
          where,
          "%s %s is not %s (%s)"
              .formatted(
                  name,
                  SchemaChecker.shown(value),
                  rules.get("x-is").asString(),
                  String.join(" ", legal)));
    }
    return unknown(where, name, value.isString() ? value.stringValue() : value.toString(), legal);
  }

  /** A word that a vocabulary lacks. */
  public static Problem unknown(String where, String name, String word, List<String> legal) {
    String near = Nearest.suggestion(word, legal);
    String hint = near.isEmpty() ? "  - known: " + String.join(", ", legal) : near;
    return Problem.of("DB-C012", where, "unknown %s '%s'%s".formatted(name, word, hint));
  }
}
