package dev.doorbell.experiments.config.figure;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads figures, wherever they are named: in an experiment, in a paper, on the command line. All
 * are described by one definition of the schema.
 */
public final class FigureReader {
  private static final String DEFINITION = "/$defs/figure";
  private static final List<String> AXES = List.of("x", "series", "facet", "rows");
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final JsonNode root;
  private final SourcePositions positions;
  private final List<Problem> problems;

  /** Reads figures of a document. */
  public FigureReader(JsonNode root, SourcePositions positions, List<Problem> problems) {
    this.root = root;
    this.positions = positions;
    this.problems = problems;
  }

  /** A figure written in one line: {@code {kind: heatmap, x: size, rows: placement}}. */
  public static FigureSpec ofText(String option, String text) throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    YamlDocument.Parsed document = YamlDocument.parse(option, text, "figure");
    FigureReader reader = new FigureReader(document.root(), document.positions(), problems);
    return orThrow(reader.figure("", Set.of()), problems);
  }

  /**
   * A figure that is described by options.
   *
   * @param given values by key of the schema: texts, numbers, flags, lists or maps of texts
   * @param options as the user typed them, by key
   */
  public static FigureSpec ofOptions(
      SequencedMap<String, ?> given, SequencedMap<String, String> options) throws ConfigException {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    SourcePositions positions = new SourcePositions("plot");
    given.forEach(
        (key, value) -> {
          String option = options.getOrDefault(key, key);
          node.set(key, MAPPER.valueToTree(value));
          positions.override("/" + key, option + " " + typed(value));
        });
    List<Problem> problems = new ArrayList<>();
    return orThrow(new FigureReader(node, positions, problems).figure("", Set.of()), problems);
  }

  private static String typed(Object value) {
    return switch (value) {
      case List<?> list -> list.stream().map(String::valueOf).collect(Collectors.joining(","));
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> entry.getKey() + "=" + entry.getValue())
              .collect(Collectors.joining(","));
      default -> value.toString();
    };
  }

  private static FigureSpec orThrow(@Nullable FigureSpec figure, List<Problem> problems)
      throws ConfigException {
    if (figure == null) {
      throw new ConfigException(problems);
    }
    return figure;
  }

  /**
   * The figure at a place of the document, with everything that it does not say left open; null,
   * with the problems said, where it is none.
   *
   * @param beside keys that are not the figure's own
   */
  public @Nullable FigureSpec figure(String pointer, Set<String> beside) {
    if (!(root.at(pointer) instanceof ObjectNode given)) {
      problems.add(
          Problem.of(
              "DB-C013", positions.ofValue(pointer), "a figure must be a mapping, {kind: ...}"));
      return null;
    }
    ObjectNode node = given.deepCopy();
    node.remove(beside);
    SourcePositions below = positions.below(pointer);
    int before = problems.size();
    problems.addAll(new SchemaChecker(definition()).check(node, below));
    if (problems.size() == before) {
      sound(node, "", below, problems);
    }
    return problems.size() == before ? spec(node) : null;
  }

  private static JsonNode definition() {
    JsonNode schema = Schema.experiment().root();
    ObjectNode definition = (ObjectNode) schema.at(DEFINITION).deepCopy();
    definition.set("$defs", schema.get("$defs"));
    return definition;
  }

  /**
   * Says which keys mean nothing in a figure of its kind, and what is wrong with its conditions.
   * The schema has judged each value by itself.
   */
  private static void sound(
      JsonNode node, String pointer, SourcePositions positions, List<Problem> problems) {
    FigureKind kind = FigureKind.of(node.path("kind").asString("line"));
    for (String key : Schema.experiment().root().at(DEFINITION + "/properties").propertyNames()) {
      if (node.has(key) && !kind.accepts(key)) {
        Problem problem =
            Problem.of(
                "DB-C010",
                positions.ofKey(SourcePositions.child(pointer, key)),
                "'%s' means nothing in a figure of kind %s, which has %s"
                    .formatted(key, kind.word(), kind.keys()));
        problems.add(key.equals("rows") ? problem.fix("one panel for each value: facet") : problem);
      }
    }
    for (int i = 0; i < AXES.size(); i++) {
      for (int k = i + 1; k < AXES.size(); k++) {
        String axis = node.path(AXES.get(i)).asString("");
        if (!axis.isEmpty() && axis.equals(node.path(AXES.get(k)).asString(""))) {
          problems.add(
              Problem.of(
                  "DB-C016",
                  positions.ofValue(SourcePositions.child(pointer, AXES.get(k))),
                  "'%s' is both %s and %s".formatted(axis, AXES.get(i), AXES.get(k))));
        }
      }
    }
    conditions(node, positions.ofValue(SourcePositions.child(pointer, "only")), problems);
  }

  /**
   * Adds the problems of a figure in a config, which leaves nothing open and has axes of the
   * experiment.
   */
  public static void complete(
      JsonNode node,
      String pointer,
      List<Axis> axes,
      SourcePositions positions,
      List<Problem> problems) {
    if (!FigureKind.isWord(node.path("kind").asString("line"))) {
      return; // The schema says so.
    }
    sound(node, pointer, positions, problems);
    FigureKind kind = FigureKind.of(node.path("kind").asString("line"));
    for (String key : kind.needed()) {
      if (!node.has(key)) {
        problems.add(
            Problem.of(
                    "DB-C011",
                    positions.ofValue(pointer),
                    "a figure of kind %s needs the key '%s'".formatted(kind.word(), key))
                .fix("docs/plots.md says what each kind shows and needs"));
      }
    }
    String x = node.path("x").asString("");
    axes.stream()
        .filter(axis -> kind == FigureKind.LINE && axis.name().equals(x) && !numeric(axis))
        .forEach(
            _ ->
                problems.add(
                    Problem.of(
                            "DB-C013",
                            positions.ofValue(SourcePositions.child(pointer, "x")),
                            "axis '%s' holds words, and a line needs numbers".formatted(x))
                        .fix("kind: bar puts words side by side")));
  }

  /** Returns whether a figure shows what was counted as well as what was sampled. */
  public static boolean counts(JsonNode node) {
    String kind = node.path("kind").asString("line");
    return FigureKind.isWord(kind) && FigureKind.of(kind).accepts("statistic");
  }

  /** Returns whether an axis holds numbers. */
  public static boolean numeric(Axis axis) {
    return axis.values().stream()
        .allMatch(value -> value instanceof Value.Whole || value instanceof Value.Real);
  }

  /** A figure of a config that has been checked: an axis is linear unless it says otherwise. */
  public static FigureSpec ofConfig(JsonNode node) {
    return spec(node, node.path("logx").asBoolean(false), node.path("logy").asBoolean(false));
  }

  private static FigureSpec spec(JsonNode node) {
    return spec(node, flag(node.get("logx")), flag(node.get("logy")));
  }

  private static FigureSpec spec(JsonNode node, @Nullable Boolean logX, @Nullable Boolean logY) {
    return new FigureSpec(
        FigureKind.of(node.path("kind").asString("line")),
        node.path("name").asString(""),
        node.path("x").asString(""),
        node.path("y").asString(""),
        node.path("series").asString(""),
        node.path("facet").asString(""),
        node.path("rows").asString(""),
        conditions(node, "only", new ArrayList<>()),
        logX,
        logY,
        node.path("share").asDouble(100 * FigureSpec.SHARE) / 100,
        node.path("statistic").asString(""),
        node.path("per").asString(""),
        node.path("relative").asString(""),
        FigureStyle.of(node));
  }

  private static @Nullable Boolean flag(@Nullable JsonNode node) {
    return node == null ? null : node.asBoolean();
  }

  private static List<PointCondition> conditions(
      JsonNode node, String where, List<Problem> problems) {
    String only = node.path("only").asString("");
    return only.isEmpty()
        ? List.of()
        : PointCondition.parse(only, where, Schema.experiment().settings().keySet(), problems);
  }
}
