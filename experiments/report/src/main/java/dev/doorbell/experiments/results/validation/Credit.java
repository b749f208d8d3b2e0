package dev.doorbell.experiments.results.validation;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Schema.Setting;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.figures.Credits;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.Row;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** A row of one point, read by its median. */
  private static final Pattern SINGLE = Pattern.compile("([^|+/:]+=[^|+/:]+)\\|\\s*([a-z.-]+)");

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
    return "by published rows: %d of %d placements x kernels x paths"
        .formatted(
            credits.values().stream().filter(text -> !text.equals(NO_ROW)).count(), credits.size());
  }

  /** Figures of a run that say which series no row tests, and show rows that measured the same. */
  public static Figures figures(StoredRun run, Supplier<ExperimentRuntime> runtime) {
    return figures(run.data(), run.plan().points(), runtime);
  }

  /** As above, of a run under another name. */
  public static Figures figures(
      RunData run, List<Point> points, Supplier<ExperimentRuntime> runtime) {
    if (run.basis() != Basis.MODELLED) {
      return new Figures(run, points, runtime);
    }
    ValidationResults results = StoredResults.builtIn();
    Set<String> tested = new HashSet<>();
    for (CheckedRow row : ValidationResults.predicted(results.rows())) {
      if (row.hasRun()) {
        tested.add(key(row) + " " + metric(row.row()));
      }
    }
    Set<String> untested = new HashSet<>();
    for (Point point : points) {
      for (String metric : point.metrics()) {
        if (keys(point).noneMatch(key -> tested.contains(key + " " + metric))) {
          untested.add(Credits.key(point.id(), metric));
        }
      }
    }
    List<Credits.Row> rows =
        results.rows().stream()
            .flatMap(row -> measured(row.row(), row.topology(), points))
            .toList();
    return new Figures(run, points, runtime, new Credits(untested, rows));
  }

  /** The points of a plan that a row measured: those whose settings are the row's or defaults. */
  private static Stream<Credits.Row> measured(Row row, String topology, List<Point> points) {
    Matcher single = SINGLE.matcher(row.config());
    Map<String, Setting> known = Schema.experiment().settings();
    if (!single.matches()) {
      return Stream.empty();
    }
    Map<String, String> given = new HashMap<>();
    for (String setting : single.group(1).strip().split("\\s+", -1)) {
      int at = setting.indexOf('=');
      given.put(setting.substring(0, at), setting.substring(at + 1));
    }
    given.put("placement", topology);
    double factor =
        switch (row.unit()) {
          case "us" -> 1e3;
          case "M/s" -> 1e6;
          default -> 1;
        };
    return points.stream()
        .filter(point -> point.kernels().contains(given.get(KERNEL)))
        .filter(
            point ->
                point.settings().entrySet().stream()
                    .allMatch(
                        setting -> {
                          String asked = given.get(setting.getKey());
                          Setting standard = known.get(setting.getKey());
                          return asked != null
                              ? setting.getValue().text().equals(canonical(asked))
                              : standard != null && standard.standard().equals(setting.getValue());
                        }))
        .map(point -> new Credits.Row(point.id(), single.group(2), row.value() * factor));
  }

  /** The metric that is read of a row's first point. */
  private static String metric(Row row) {
    String[] halves = row.config().split("\\|", -1);
    return halves.length < 2 ? "" : halves[1].strip().split(" ", -1)[0];
  }

  private static String canonical(String text) {
    OptionalLong size = Sizes.parse(text);
    return size.isPresent() ? Long.toString(size.getAsLong()) : text;
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
