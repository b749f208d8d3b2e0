package dev.doorbell.experiments.config.schema;

import com.networknt.schema.Error;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.SourcePositions.ProblemPosition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Checks a config against the JSON schema and says what is wrong in a researcher's words. */
public final class SchemaChecker {
  static {
    // The validator logs through SLF4J, which otherwise greets the user about its missing back end.
    System.setProperty("slf4j.internal.verbosity", "ERROR");
  }

  private final JsonNode schema;
  private final com.networknt.schema.Schema validator;

  private static final Pattern MISSING = Pattern.compile("key '(.+)' is missing");
  private static final Pattern SPAN = Pattern.compile("([0-9]+[KMG]?)[.][.]([0-9]+[KMG]?)");

  public SchemaChecker(JsonNode schema) {
    this.schema = schema;
    this.validator =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(schema);
  }

  /** Every violation, in the order of the file. */
  public List<Problem> check(JsonNode document, SourcePositions positions) {
    List<Problem> problems = new ArrayList<>();
    for (Error error : validator.validate(document)) {
      problems.add(explain(error, document, positions));
    }
    problems.removeIf(problem -> isMistyped(problem, problems));
    return problems.stream().distinct().sorted(Comparator.comparing(ProblemPosition::of)).toList();
  }

  /** A key that is missing because it is misspelt: one problem says both. */
  private static boolean isMistyped(Problem missing, List<Problem> problems) {
    Matcher key = MISSING.matcher(missing.what());
    return key.matches()
        && problems.stream()
            .anyMatch(
                other ->
                    other.code().equals("DB-C010")
                        && other.what().contains("did you mean '" + key.group(1) + "'"));
  }

  private Problem explain(Error error, JsonNode document, SourcePositions positions) {
    String at = error.getInstanceLocation().toString();
    String rulePointer = error.getSchemaLocation().getFragment().toString();
    JsonNode rules = schema.at(rulePointer.substring(0, rulePointer.lastIndexOf('/')));
    JsonNode value = document.at(at);
    String name = name(at);
    return switch (error.getKeyword()) {
      case "additionalProperties" -> unknownKey(at, error.getProperty(), rules, positions);
      case "required" -> missingKey(at, error.getProperty(), rules, positions);
      case "enum" -> Suggestions.notAmong(positions.ofValue(at), singular(at, name), value, rules);
      case "type" ->
          Problem.of(
              "DB-C013",
              positions.ofValue(at),
              "%s must be %s, and %s is %s"
                  .formatted(name, expected(rules), shown(value), kind(value)));
      case "minimum", "maximum" ->
          Problem.of(
              "DB-C014",
              positions.ofValue(at),
              "%s %s is out of range (%s)".formatted(name, shown(value), range(rules)));
      case "pattern" -> {
        Problem problem =
            Problem.of(
                "DB-C015",
                positions.ofValue(at),
                "%s is %s, and must be %s".formatted(name, shown(value), expected(rules)));
        Matcher span = SPAN.matcher(value.asString(""));
        yield span.matches()
            ? problem.fix(
                "powers of two are pow2(%1$s,%2$s), whole numbers range(%1$s,%2$s)"
                    .formatted(span.group(1), span.group(2)))
            : problem;
      }
      case "minItems", "minLength", "minProperties" ->
          Problem.of("DB-C011", positions.ofValue(at), emptiness(name, rules));
      case "maxItems" ->
          Problem.of(
              "DB-C014",
              positions.ofValue(at),
              "%s has %d entries, and at most %d fit"
                  .formatted(name, value.size(), rules.path("maxItems").asInt()));
      case "uniqueItems" ->
          Problem.of("DB-C016", positions.ofValue(at), "%s names something twice".formatted(name));
      default ->
          Problem.of(
              "DB-C013", positions.ofValue(at), "%s: %s".formatted(name, error.getMessage()));
    };
  }

  private static String emptiness(String name, JsonNode rules) {
    int least = rules.path("minItems").asInt(1);
    return least > 1 ? "%s needs %d entries".formatted(name, least) : "%s is empty".formatted(name);
  }

  private Problem missingKey(String at, String key, JsonNode rules, SourcePositions positions) {
    Problem problem =
        Problem.of("DB-C011", positions.ofValue(at), "key '%s' is missing".formatted(key));
    // A condition's rules name keys that the whole schema describes.
    JsonNode described = at.isEmpty() ? schema : rules;
    String meaning = described.path("properties").path(key).path("description").asString("");
    return meaning.isEmpty() ? problem : problem.fix("%s: %s".formatted(key, meaning));
  }

  private Problem unknownKey(String at, String key, JsonNode rules, SourcePositions positions) {
    List<String> known = new ArrayList<>(rules.path("properties").propertyNames());
    String place = at.isEmpty() ? "" : " in " + name(at);
    Problem problem =
        Problem.of(
            "DB-C010",
            positions.ofKey(SourcePositions.child(at, key)),
            "unknown key '%s'%s%s".formatted(key, place, Nearest.suggestion(key, known)));
    String home = home(key);
    return home.isEmpty() ? problem : problem.fix(home);
  }

  /** Returns where a key belongs that stands in the wrong place of the file; empty when nowhere. */
  private String home(String key) {
    JsonNode top = schema.path("properties");
    if (top.has(key)) {
      return "'%s' stands at the top of the file, not below another key".formatted(key);
    }
    List<String> places = new ArrayList<>();
    for (String section : top.propertyNames()) {
      if (top.get(section).path("properties").has(key)) {
        places.add("'" + section + "'");
      }
    }
    return places.isEmpty()
        ? ""
        : "'%s' belongs below %s".formatted(key, String.join(" or ", places));
  }

  /** The nearest key above the pointer, which is what the user calls the value. */
  static String name(String pointer) {
    String[] parts = pointer.split("/", -1);
    for (int i = parts.length - 1; i > 0; i--) {
      if (!parts[i].chars().allMatch(Character::isDigit)) {
        return parts[i].replace("~1", "/").replace("~0", "~");
      }
    }
    return "the file";
  }

  /** An element of {@code metrics} is a metric. */
  private static String singular(String pointer, String name) {
    boolean element = Character.isDigit(pointer.charAt(pointer.length() - 1));
    return element && name.endsWith("s") ? name.substring(0, name.length() - 1) : name;
  }

  private static String expected(JsonNode rules) {
    if (rules.has("x-expected")) {
      return rules.get("x-expected").asString();
    }
    JsonNode type = rules.path("type");
    List<String> types = type.isArray() ? Schema.strings(type) : List.of(type.asString());
    String unit = rules.path("x-unit").asString("");
    return types.stream().map(SchemaChecker::typeName).collect(Collectors.joining(" or "))
        + (unit.isEmpty() ? "" : " of " + unit);
  }

  private static String typeName(String type) {
    return switch (type) {
      case "integer" -> "a whole number";
      case "number" -> "a number";
      case "string" -> "a text";
      case "boolean" -> "true or false";
      case "array" -> "a list";
      case "object" -> "a mapping";
      default -> type;
    };
  }

  private static String kind(JsonNode value) {
    return switch (value.getNodeType()) {
      case ARRAY -> "a list";
      case OBJECT, POJO -> "a mapping";
      case BOOLEAN -> "true or false";
      case NULL, MISSING -> "nothing";
      case NUMBER -> value.isIntegralNumber() ? "a whole number" : "a decimal number";
      case STRING, BINARY -> "a text";
    };
  }

  private static String range(JsonNode rules) {
    String least = rules.has("minimum") ? "at least " + rules.get("minimum").asString() : "";
    String most = rules.has("maximum") ? "at most " + rules.get("maximum").asString() : "";
    return least.isEmpty() ? most : most.isEmpty() ? least : least + ", " + most;
  }

  /** A value as it fits a sentence. */
  static String shown(JsonNode value) {
    String text = value.isString() ? "'" + value.stringValue() + "'" : value.toString();
    return text.length() <= 60 ? text : text.substring(0, 57) + "...";
  }

  /** Problems of values that are not legal, with the nearest legal ones. */
  public static final class Suggestions {
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

    /** Words of other programs for metrics of this one. */
    private static final Map<String, String> SYNONYMS =
        Map.of("bandwidth", "goodput", "throughput", "goodput", "msgrate", "rate");

    /** A word that a vocabulary lacks. */
    public static Problem unknown(String where, String name, String word, List<String> legal) {
      List<String> meant = Nearest.to(word, SYNONYMS.keySet());
      String other = meant.isEmpty() ? "" : SYNONYMS.getOrDefault(meant.getFirst(), "");
      String near = Nearest.suggestion(legal.contains(other) ? other : word, legal);
      String hint = near.isEmpty() ? "  - known: " + String.join(", ", legal) : near;
      return Problem.of("DB-C012", where, "unknown %s '%s'%s".formatted(name, word, hint));
    }
  }
}
