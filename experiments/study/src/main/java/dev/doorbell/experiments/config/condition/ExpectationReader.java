package dev.doorbell.experiments.config.condition;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.condition.PointCondition.ConditionReader;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.schema.SchemaChecker.Suggestions;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads what a config expects of its run; the schema has judged the form of each value. */
public final class ExpectationReader {
  private static final double SAME = 0.05;
  private static final String SIZE = "size";

  private record Keys(Set<String> needed, Set<String> known) {}

  private static final Keys NONE = new Keys(Set.of(), Set.of());
  private static final Keys ORDER = new Keys(Set.of("of", "than"), Set.of("of", "than", "by"));
  private static final Keys TREND = new Keys(Set.of("over"), Set.of("over", "tolerance"));
  private static final Map<String, Keys> KEYS =
      Map.of(
          "greater", ORDER,
          "less", ORDER,
          "equal", new Keys(Set.of("of", "than"), Set.of("of", "than", "tolerance")),
          "rises", TREND,
          "falls", TREND,
          "level", TREND,
          "within", new Keys(Set.of("within"), Set.of("within")),
          "modelled", new Keys(Set.of(), Set.of("tolerance", "plus")),
          "crossover", new Keys(Set.of("between", "within"), Set.of("between", "over", "within")));

  private final List<Axis> axes;
  private final SourcePositions positions;
  private final List<Problem> problems;
  private final ConditionReader conditions;

  public ExpectationReader(List<Axis> axes, SourcePositions positions, List<Problem> problems) {
    this.axes = axes;
    this.positions = positions;
    this.problems = problems;
    this.conditions =
        new ConditionReader("axis", axes.stream().map(Axis::name).toList(), positions, problems);
  }

  public List<Expectation> read(JsonNode list) {
    List<Expectation> expectations = new ArrayList<>();
    for (int i = 0; list.isArray() && i < list.size(); i++) {
      Expectation one = one(list.get(i), "/expect/" + i);
      if (one != null) {
        expectations.add(one);
      }
    }
    return expectations;
  }

  private @Nullable Expectation one(JsonNode node, String pointer) {
    String that = node.path("that").asString("");
    Keys keys = KEYS.getOrDefault(that, NONE);
    if (!node.isObject() || !complete(node, pointer, keys.needed, keys.known)) {
      return null;
    }
    int before = problems.size();
    Expectation.Scope scope =
        new Expectation.Scope(
            node.path("metric").asString(""),
            conditions.read(node.path("where"), pointer + "/where"),
            node.path("source").asString(""),
            node.path("known").asString(""));
    Expectation made = make(that, scope, node, pointer);
    return problems.size() == before ? made : null;
  }

  /** Returns true if the expectation has the keys that its kind requires, and no others. */
  private boolean complete(JsonNode node, String pointer, Set<String> needed, Set<String> known) {
    boolean complete = !known.isEmpty();
    for (String key : needed) {
      if (!node.has(key)) {
        problems.add(
            Problem.of(
                "DB-C011",
                positions.ofValue(pointer),
                "an expectation that says %s needs the key '%s'"
                    .formatted(node.path("that").asString(""), key)));
        complete = false;
      }
    }
    for (String key :
        List.of("of", "than", "by", "over", "between", "within", "tolerance", "plus")) {
      if (complete && node.has(key) && !known.contains(key)) {
        problems.add(
            Problem.of(
                "DB-C010",
                positions.ofKey(SourcePositions.child(pointer, key)),
                "'%s' means nothing in an expectation that says %s; it has %s"
                    .formatted(
                        key,
                        node.path("that").asString(""),
                        known.stream().sorted().collect(Collectors.joining(", ")))));
        complete = false;
      }
    }
    return complete;
  }

  private @Nullable Expectation make(
      String that, Expectation.Scope scope, JsonNode node, String pointer) {
    List<PointCondition> of = conditions.read(node.path("of"), pointer + "/of");
    List<PointCondition> than = conditions.read(node.path("than"), pointer + "/than");
    String over = node.path("over").asString(SIZE);
    double tolerance =
        node.path("tolerance").asDouble(that.equals("rises") || that.equals("falls") ? 0 : SAME);
    return switch (that) {
      case "greater", "less" ->
          new Expectation.Ordered(
              scope, of, than, that.equals("greater"), node.path("by").asDouble(1));
      case "equal" -> new Expectation.Equal(scope, of, than, tolerance);
      case "rises", "falls", "level" ->
          axis(over, pointer, "over") == null
              ? null
              : new Expectation.Trend(
                  scope,
                  over,
                  Expectation.Trend.Course.valueOf(that.toUpperCase(Locale.ROOT)),
                  tolerance);
      case "within" ->
          new Expectation.Within(scope, bound(node, pointer, 0), bound(node, pointer, 1));
      case "modelled" -> new Expectation.Modelled(scope, tolerance, node.path("plus").asDouble(0));
      case "crossover" -> crossing(scope, node, over, pointer);
      default -> throw new IllegalStateException("the schema lets through '" + that + "'");
    };
  }

  private @Nullable Expectation crossing(
      Expectation.Scope scope, JsonNode node, String over, String pointer) {
    if (axis(over, pointer, "over") == null) {
      return null;
    }
    String first = node.path("between").path(0).asString("");
    String second = node.path("between").path(1).asString("");
    // In a run of fewer paths than the experiment has, the other value identifies the axis.
    List<Axis> having =
        axes.stream()
            .filter(axis -> has(axis, first) || has(axis, second))
            .sorted(
                (a, b) ->
                    Boolean.compare(
                        has(b, first) && has(b, second), has(a, first) && has(a, second)))
            .toList();
    String name = having.isEmpty() ? "" : having.getFirst().name();
    return new Expectation.Crossing(
        scope,
        new Contrast(scope.metric(), over, name, first, second, ""),
        bound(node, pointer, 0),
        bound(node, pointer, 1));
  }

  private static boolean has(Axis axis, String value) {
    return axis.values().stream().anyMatch(one -> one.text().equals(value));
  }

  private @Nullable Axis axis(String name, String pointer, String key) {
    for (Axis axis : axes) {
      if (axis.name().equals(name)) {
        return axis;
      }
    }
    problems.add(
        Suggestions.unknown(
            positions.ofValue(SourcePositions.child(pointer, key)),
            "axis",
            name,
            axes.stream().map(Axis::name).toList()));
    return null;
  }

  /** A number, or a size such as 4K. */
  private double bound(JsonNode node, String pointer, int index) {
    JsonNode bound = node.path("within").path(index);
    if (bound.isNumber()) {
      return bound.doubleValue();
    }
    OptionalLong size = Sizes.parse(bound.asString(""));
    if (size.isEmpty() && !bound.isMissingNode()) {
      problems.add(
          Problem.of(
              "DB-C015",
              positions.ofValue("%s/within/%d".formatted(pointer, index)),
              "within has '%s', and takes numbers and sizes such as 4K"
                  .formatted(bound.asString(""))));
    }
    return size.orElse(0);
  }
}
