package dev.doorbell.experiments.config.condition;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.schema.Amounts;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Value;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A condition on one setting of a point, as in {@code exclude} and {@code --only}.
 *
 * @param operands any of them for {@code EQUAL}, none of them for {@code NOT_EQUAL}, exactly one
 *     for an order
 */
public record PointCondition(String setting, Comparison comparison, List<String> operands) {
  private static final Pattern TERM =
      Pattern.compile("\\s*([A-Za-z0-9._]+)\\s*(<=|>=|!=|<|>|=)(.*)");
  private static final Pattern COMPARED = Pattern.compile("\\s*(<=|>=|!=|<|>|=)(.*)");

  /** Comparison of a value with operands. */
  @SuppressWarnings("ImmutableEnumChecker") // functions without state
  public enum Comparison {
    EQUAL("=", order -> order == 0),
    NOT_EQUAL("!=", order -> order != 0),
    LESS("<", order -> order < 0),
    AT_MOST("<=", order -> order <= 0),
    GREATER(">", order -> order > 0),
    AT_LEAST(">=", order -> order >= 0);

    private final String sign;
    private final IntPredicate holds;

    Comparison(String sign, IntPredicate holds) {
      this.sign = sign;
      this.holds = holds;
    }

    static Comparison of(String sign) {
      for (Comparison comparison : values()) {
        if (comparison.sign.equals(sign)) {
          return comparison;
        }
      }
      throw new IllegalArgumentException("not a comparison: " + sign);
    }

    boolean isOrder() {
      return this != EQUAL && this != NOT_EQUAL;
    }
  }

  public PointCondition {
    operands = operands.stream().map(PointCondition::canonical).toList();
  }

  /** Sizes may be written with a suffix; values never are. */
  private static String canonical(String operand) {
    String text = operand.strip();
    OptionalLong number = Sizes.parse(text);
    return number.isPresent() ? Long.toString(number.getAsLong()) : text;
  }

  String text() {
    return setting + comparison.sign + String.join("|", operands);
  }

  /** Returns the condition for a sentence: sizes and times with their unit. */
  String shown() {
    return setting
        + comparison.sign
        + String.join("|", operands.stream().map(o -> Amounts.operand(setting, o)).toList());
  }

  /** The conditions of {@code --only}; none where it is not given. */
  public static List<PointCondition> ofOption(@Nullable String only, Collection<String> settings)
      throws ConfigException {
    return only == null ? List.of() : of(only, "--only " + only, settings);
  }

  /**
   * The conditions of a text.
   *
   * @param place where it stands
   * @param settings names that a condition may be about
   */
  public static List<PointCondition> of(String text, String place, Collection<String> settings)
      throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    List<PointCondition> conditions = parse(text, place, settings, problems);
    ConfigException.throwIfAny(problems);
    return conditions;
  }

  /** Conditions of which all must hold, as {@code --only} takes them. */
  public static String text(List<PointCondition> conditions) {
    return conditions.stream().map(PointCondition::text).collect(Collectors.joining(","));
  }

  /** Returns whether the condition holds for a point with these values. */
  public boolean holds(Map<String, Value> values) {
    Value value = values.get(setting);
    if (value == null) {
      return false;
    }
    if (!comparison.isOrder()) {
      return operands.contains(value.text()) == (comparison == Comparison.EQUAL);
    }
    return value instanceof Value.Whole(long number)
        && comparison.holds.test(Long.compare(number, Long.parseLong(operands.getFirst())));
  }

  static PointCondition ofConfig(
      String setting, String text, String where, List<Problem> problems) {
    Matcher compared = COMPARED.matcher(text);
    return compared.matches()
        ? checked(setting, compared.group(1), compared.group(2), where, problems)
        : new PointCondition(setting, Comparison.EQUAL, List.of(text));
  }

  /** Reads {@code size<=4096,path=pull|push.bf}: a comma is "and", a bar is "or". */
  public static List<PointCondition> parse(
      String text, String where, Collection<String> names, List<Problem> problems) {
    List<PointCondition> conditions = new ArrayList<>();
    for (String term : text.split(",", -1)) {
      Matcher matcher = TERM.matcher(term);
      if (!matcher.matches()) {
        problems.add(
            Problem.of(
                "DB-C041",
                where,
                "'%s' is not a condition such as size<=4096 or path=pull|push.bf"
                    .formatted(term.strip())));
        continue;
      }
      String setting = matcher.group(1);
      if (!names.contains(setting)) {
        problems.add(
            Problem.of(
                "DB-C010",
                where,
                "unknown setting '%s'%s".formatted(setting, Nearest.suggestion(setting, names))));
        continue;
      }
      conditions.add(checked(setting, matcher.group(2), matcher.group(3), where, problems));
    }
    return conditions;
  }

  private static PointCondition checked(
      String setting, String sign, String operands, String where, List<Problem> problems) {
    Comparison comparison = Comparison.of(sign);
    List<String> list = List.of(operands.split("\\|", -1));
    if (comparison.isOrder()
        && (list.size() != 1 || Sizes.parse(list.getFirst().strip()).isEmpty())) {
      problems.add(
          Problem.of(
              "DB-C041",
              where,
              "%s%s%s compares with no number".formatted(setting, sign, operands)));
      return new PointCondition(setting, Comparison.EQUAL, List.of());
    }
    return new PointCondition(setting, comparison, list);
  }

  /**
   * Reads conditions on points: a mapping from settings to a value, a list of values or a
   * comparison.
   *
   * @param kind what the names are called in problems
   * @param names that may be used
   */
  public record ConditionReader(
      String kind, Collection<String> names, SourcePositions positions, List<Problem> problems) {

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
        } else if (!isConditionOn(entry.getValue())) {
          problems.add(
              Problem.of(
                  "DB-C041",
                  positions.ofValue(at),
                  "'%s' takes a value, a list of values or a comparison such as '<=4096'"
                      .formatted(name)));
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

    private static boolean isConditionOn(JsonNode node) {
      return node.isArray()
          ? node.valueStream().allMatch(one -> one.isValueNode() && !one.isNull())
          : node.isValueNode() && !node.isNull();
    }
  }
}
