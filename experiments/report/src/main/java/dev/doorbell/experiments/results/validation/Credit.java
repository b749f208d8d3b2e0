package dev.doorbell.experiments.results.validation;

import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Independent predicted rows behind results of one placement, kernel and path: how many test them,
 * and how far off the worst is.
 */
public final class Credit {
  private static final String KERNEL = "kernel";
  private static final String PATH = "path";
  private static final String DEFAULT_PATH = "pull";
  private static final String NO_ROW = "no row";

  private Credit() {}

  /**
   * Says how many rows test each placement, kernel and path of a plan, and how far off they are.
   */
  public static SequencedMap<String, String> of(ValidationResults results, List<Point> points) {
    SequencedMap<String, String> credits = new LinkedHashMap<>();
    for (Point point : points) {
      keys(point).forEach(key -> credits.computeIfAbsent(key, each -> text(results, each)));
    }
    return credits;
  }

  /** Says the same of each point of a plan, by its id. */
  public static Map<String, String> byPoint(ValidationResults results, List<Point> points) {
    SequencedMap<String, String> credits = of(results, points);
    Map<String, String> byPoint = new HashMap<>();
    for (Point point : points) {
      byPoint.put(
          point.id(),
          keys(point)
              .map(key -> credits.getOrDefault(key, NO_ROW))
              .distinct()
              .collect(Collectors.joining("; ")));
    }
    return byPoint;
  }

  /** Counts the placements, kernels and paths of a plan that an independent row tests. */
  public static String count(ValidationResults results, List<Point> points) {
    SequencedMap<String, String> credits = of(results, points);
    return "%d of %d combinations of placement, kernel and path by published rows"
        .formatted(
            credits.values().stream().filter(text -> !text.equals(NO_ROW)).count(), credits.size());
  }

  private static Stream<String> keys(Point point) {
    return point.kernels().stream()
        .map(kernel -> key(word(point, "placement"), kernel, word(point, PATH)));
  }

  private static String text(ValidationResults results, String key) {
    return text(
        ValidationResults.predicted(results.rows()).stream()
            .filter(row -> key(row).equals(key))
            .toList());
  }

  private static String word(Point point, String axis) {
    Value value = point.axes().get(axis);
    return value == null ? "" : value.text();
  }

  private static String text(List<CheckedRow> rows) {
    RowErrors errors = RowErrors.of(rows);
    return errors.rows() == 0
        ? NO_ROW
        : "%d %s, worst %s"
            .formatted(
                errors.rows(),
                errors.rows() == 1 ? "row" : "rows",
                ValidationTables.percent(errors.worst()));
  }

  private static String key(String placement, String kernel, String path) {
    return "%s %s %s".formatted(placement, kernel, path.isEmpty() ? DEFAULT_PATH : path);
  }

  private static String key(CheckedRow row) {
    String config = row.row().config().split("\\|", -1)[0];
    return key(row.topology(), value(config, KERNEL), value(config, PATH));
  }

  private static String value(String config, String name) {
    for (String word : config.split("\\s+", -1)) {
      if (word.startsWith(name + "=")) {
        return word.substring(name.length() + 1);
      }
    }
    return "";
  }

  /** Every placement, kernel and path that some independent predicted row tests. */
  static Table table(ValidationResults results) {
    Map<String, List<CheckedRow>> groups = new TreeMap<>();
    for (CheckedRow row : ValidationResults.predicted(results.rows())) {
      if (row.hasRun() && !row.row().config().startsWith(ValidationPage.DMA)) {
        groups.merge(
            key(row),
            List.of(row),
            (one, other) -> Stream.concat(one.stream(), other.stream()).toList());
      }
    }
    return new TableBuilder<Map.Entry<String, List<CheckedRow>>>()
        .left("placement", group -> word(group.getKey(), 0))
        .left("kernel", group -> word(group.getKey(), 1))
        .left("path", group -> word(group.getKey(), 2))
        .left("tested by", group -> text(group.getValue()))
        .table(List.copyOf(groups.entrySet()), List.of());
  }

  private static String word(String key, int i) {
    return key.split(" ", -1)[i];
  }
}
