package dev.doorbell.experiments.results.validation;

import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Independent predicted rows behind results of one placement, kernel and path: how many test them,
 * and how far off the worst is.
 */
public final class Credit {
  private static final String KERNEL = "kernel";
  private static final String PATH = "path";
  private static final String DEFAULT_PATH = "pull";

  private Credit() {}

  /** In words of a table's cell. */
  public static String of(ValidationResults results, String placement, String kernel, String path) {
    return text(
        ValidationResults.predicted(results.rows()).stream()
            .filter(row -> key(row).equals(key(placement, kernel, path)))
            .toList());
  }

  /** Counts the placements, kernels and paths of a plan that an independent row tests. */
  public static String of(ValidationResults results, List<Point> points) {
    Set<String> asked = new HashSet<>();
    for (Point point : points) {
      point
          .kernels()
          .forEach(kernel -> asked.add(key(word(point, "placement"), kernel, word(point, PATH))));
    }
    Set<String> tested = new HashSet<>();
    ValidationResults.predicted(results.rows()).forEach(row -> tested.add(key(row)));
    tested.retainAll(asked);
    return "%d of %d combinations of placement, kernel and path by published rows"
        .formatted(tested.size(), asked.size());
  }

  private static String word(Point point, String axis) {
    Value value = point.axes().get(axis);
    return value == null ? "" : value.text();
  }

  private static String text(List<CheckedRow> rows) {
    RowErrors errors = RowErrors.of(rows);
    return errors.rows() == 0
        ? "no row"
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
