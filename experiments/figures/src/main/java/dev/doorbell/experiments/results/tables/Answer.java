package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The short answer to an experiment's question, made from its medians: which value of the axis that
 * is compared does best, from where to where, and by how much.
 */
public final class Answer {
  private static final int MOST_PLACES = 6;
  private static final int MOST_COLUMNS = 4;
  private static final int MOST_ROWS = 6;
  private static final double TIE = 0.005;

  private final String metric;
  private final String unit;
  private final boolean higher;
  private final Axis compared;
  private final Optional<Axis> over;
  private final List<Axis> by;
  private final SequencedMap<String, SequencedMap<String, List<Best>>> places =
      new LinkedHashMap<>();

  /** A value of the compared axis with its median. */
  private record Best(String name, double median) {}

  private Answer(RunData data, String metric, Axis compared, Optional<Axis> over) {
    this.metric = metric;
    this.compared = compared;
    this.over = over;
    this.unit =
        data.rows().stream()
            .flatMap(row -> Stream.ofNullable(row.metrics().get(metric)))
            .map(sampled -> sampled.samples().unit())
            .findFirst()
            .orElse("");
    this.higher = data.higherIsBetter(metric, unit);
    this.by = varied(data, axis -> !axis.equals(compared) && over.filter(axis::equals).isEmpty());
    data.rows().forEach(this::add);
    Comparator<Best> better = Comparator.comparingDouble(Best::median);
    places.values().stream()
        .flatMap(place -> place.values().stream())
        .forEach(bests -> bests.sort(higher ? better.reversed() : better));
  }

  private void add(SummaryRow row) {
    row.value(metric)
        .ifPresent(
            median ->
                places
                    .computeIfAbsent(
                        by.stream().map(axis -> named(row, axis)).collect(Collectors.joining(", ")),
                        _ -> new LinkedHashMap<>())
                    .computeIfAbsent(
                        over.map(axis -> word(row, axis)).orElse(""), _ -> new ArrayList<>())
                    .add(new Best(word(row, compared), median)));
  }

  private static String word(SummaryRow row, Axis axis) {
    return Screen.value(row.axes().get(axis.name()), axis.unit());
  }

  private static String named(SummaryRow row, Axis axis) {
    Value value = row.axes().get(axis.name());
    return value == null ? Names.NONE : Names.alone(axis, value);
  }

  private static List<Axis> varied(RunData data, Predicate<Axis> also) {
    return data.axes().stream().filter(axis -> axis.values().size() > 1).filter(also).toList();
  }

  /**
   * The answer that a run's points give: to the first crossover that the config asks for, else of
   * what its first figure shows.
   *
   * @return nothing where no axis has two values, or no point a sampled metric
   */
  public static Optional<Answer> of(RunData data) {
    Optional<Contrast> contrast = data.contrasts().stream().findFirst();
    Optional<FigureSpec> figure = data.figures().stream().findFirst();
    Optional<String> metric =
        contrast
            .map(Contrast::metric)
            .or(() -> figure.map(FigureSpec::y))
            .filter(name -> data.rows().stream().anyMatch(row -> row.metrics().containsKey(name)))
            .or(
                () ->
                    data.rows().stream()
                        .flatMap(row -> row.metrics().sequencedKeySet().stream())
                        .findFirst());
    List<Axis> varied = varied(data, _ -> true);
    if (metric.isEmpty() || varied.isEmpty()) {
      return Optional.empty();
    }
    Axis compared =
        named(varied, contrast.map(Contrast::axis).orElse(""))
            .or(() -> figure.flatMap(f -> named(varied, f.series().isEmpty() ? f.x() : f.series())))
            .or(() -> varied.stream().filter(axis -> !isNumber(axis)).findFirst())
            .orElse(varied.getFirst());
    Optional<Axis> over =
        named(varied, contrast.map(Contrast::over).orElse(""))
            .or(() -> figure.flatMap(f -> named(varied, f.x())))
            .or(() -> varied.reversed().stream().filter(Answer::isNumber).findFirst())
            .filter(axis -> !axis.equals(compared));
    return Optional.of(new Answer(data, metric.get(), compared, over));
  }

  private static Optional<Axis> named(List<Axis> axes, String name) {
    return axes.stream().filter(axis -> axis.name().equals(name)).findFirst();
  }

  private static boolean isNumber(Axis axis) {
    return axis.values().getFirst() instanceof Value.Whole;
  }

  /** Sentences and a table for a terminal of so many columns, ending in a newline. */
  public String text(int width) {
    StringBuilder text =
        new StringBuilder(
            "%s median %s, by %s%s (lead over the next):%n"
                .formatted(
                    higher ? "Highest" : "Lowest",
                    Names.title(metric),
                    Names.title(compared.name()),
                    over.map(axis -> " along " + Names.title(axis.name())).orElse("")));
    places.sequencedEntrySet().stream()
        .limit(MOST_PLACES)
        .forEach(place -> text.append(sentence(place.getKey(), place.getValue())).append('\n'));
    if (places.size() > MOST_PLACES) {
      text.append("  and %d more settings of other axes%n".formatted(places.size() - MOST_PLACES));
    }
    String meaning = Schema.experiment().metrics().getOrDefault(metric, "");
    if (!meaning.isEmpty()) {
      text.append("%s: %s%n".formatted(metric, meaning.split("; sampled", -1)[0]));
    }
    String sentences = Screen.folded(text.toString(), width);
    if (over.isEmpty()) {
      return sentences;
    }
    String table = table(false).text(width);
    boolean fits = table.lines().allMatch(line -> line.length() <= width);
    return sentences + (fits ? table : table(true).text(width));
  }

  private String sentence(String place, SequencedMap<String, List<Best>> cells) {
    String head = place.isEmpty() ? "  " : "  " + place + ": ";
    if (over.isEmpty()) {
      List<Best> bests = cells.firstEntry().getValue();
      return head
          + bests.stream()
              .map(best -> "%s %s".formatted(best.name, margin(bests.getFirst(), best)))
              .limit(MOST_COLUMNS)
              .collect(Collectors.joining(", "));
    }
    List<String> parts = new ArrayList<>();
    List<String> values = List.copyOf(cells.keySet());
    for (int from = 0, to; from < values.size(); from = to) {
      String winner = winner(cells.getOrDefault(values.get(from), List.of()));
      to = from + 1;
      while (to < values.size()
          && winner(cells.getOrDefault(values.get(to), List.of())).equals(winner)) {
        to++;
      }
      String first = values.get(from);
      String last = values.get(to - 1);
      String range =
          from == 0 && to == values.size()
              ? "throughout"
              : !ordered() || from == to - 1
                  ? "at " + String.join(", ", values.subList(from, to))
                  : from == 0
                      ? "up to " + last
                      : to == values.size()
                          ? "from " + first
                          : "from %s to %s".formatted(first, last);
      parts.add(winner + " " + range + lead(values.subList(from, to), cells));
    }
    return head + String.join("; ", parts);
  }

  private boolean ordered() {
    return over.filter(Answer::isNumber).isPresent();
  }

  /** The largest lead: the best value over the next one that differs from it. */
  private String lead(List<String> values, SequencedMap<String, List<Best>> cells) {
    double most =
        values.stream()
            .map(value -> cells.getOrDefault(value, List.of()))
            .mapToDouble(Answer::ratio)
            .max()
            .orElse(1);
    return most > 1 + TIE
        ? " (%s%sx)".formatted(values.size() > 1 ? "up to " : "", Units.digits(most, 3))
        : "";
  }

  private static double ratio(List<Best> bests) {
    double first = bests.getFirst().median;
    return bests.stream()
        .mapToDouble(Best::median)
        .map(median -> Math.max(median, first) / Math.min(median, first))
        .filter(ratio -> ratio > 1 + TIE && Double.isFinite(ratio))
        .findFirst()
        .orElse(1);
  }

  /** The best, and those that cannot be told from it; empty where all are alike. */
  private static String winner(List<Best> bests) {
    Best first = bests.getFirst();
    List<String> best =
        bests.stream()
            .filter(each -> Math.abs(each.median - first.median) <= TIE * Math.abs(first.median))
            .map(Best::name)
            .sorted()
            .toList();
    return best.size() > 1 && best.size() == bests.size() ? "all alike" : String.join(" = ", best);
  }

  private String margin(Best first, Best best) {
    String value =
        Screen.metric(best.median, unit) + (unit.isEmpty() ? "" : " " + Screen.unit(unit));
    return best.equals(first) || first.median == 0
        ? value
        : "%s (%s)".formatted(value, Screen.percent(best.median / first.median - 1));
  }

  /** Returns true if a value is the best or the next at some place. */
  private static boolean leads(String name, SequencedMap<String, List<Best>> cells) {
    return cells.values().stream()
        .flatMap(bests -> bests.stream().limit(2))
        .anyMatch(best -> best.name.equals(name));
  }

  /**
   * A row a value of the axis that is compared, at the place that comes first; of many values those
   * that lead.
   *
   * @param narrow the unit stands once, not at each column
   */
  private Table table(boolean narrow) {
    Map.Entry<String, SequencedMap<String, List<Best>>> first = places.firstEntry();
    List<String> values = List.copyOf(first.getValue().keySet());
    List<String> shown =
        IntStream.range(0, Math.min(MOST_COLUMNS, values.size()))
            .map(
                i ->
                    i
                        * (values.size() - 1)
                        / Math.max(1, Math.min(MOST_COLUMNS, values.size()) - 1))
            .mapToObj(values::get)
            .toList();
    String inUnit = unit.isEmpty() ? "" : " [" + Screen.unit(unit) + "]";
    String at = first.getKey().isEmpty() ? "" : " (%s)".formatted(first.getKey());
    List<Table.Column> columns = new ArrayList<>();
    columns.add(new Table.Column(compared.name() + at + (narrow ? inUnit : ""), false));
    shown.forEach(value -> columns.add(new Table.Column(value + (narrow ? "" : inUnit), true)));
    List<List<String>> rows = new ArrayList<>();
    List<String> names =
        compared.values().stream().map(name -> Screen.value(name, compared.unit())).toList();
    for (String name : names) {
      if (names.size() > MOST_ROWS && !leads(name, first.getValue())) {
        continue;
      }
      List<String> row = new ArrayList<>(List.of(name));
      for (String value : shown) {
        row.add(
            first.getValue().getOrDefault(value, List.of()).stream()
                .filter(best -> best.name.equals(row.getFirst()))
                .map(best -> Screen.metric(best.median, unit))
                .findFirst()
                .orElse("-"));
      }
      rows.add(row);
    }
    return new Table(columns, rows, List.of());
  }
}
