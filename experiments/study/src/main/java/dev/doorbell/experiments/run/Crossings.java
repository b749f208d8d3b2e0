package dev.doorbell.experiments.run;

import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.schema.Amounts;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.stats.Crossover;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Finds where the pairs that a config names change places. */
public final class Crossings {
  private Crossings() {}

  /**
   * One pair at one place.
   *
   * @param by value of the axis for each value of which it was sought; empty when there is none
   * @param others values of the axes that are neither compared nor sought along, where they vary
   */
  public record Found(
      Contrast contrast, String by, SequencedMap<String, Value> others, Crossover crossover) {

    /** {@link #by} as a sentence has it: with its axis where that is one of numbers. */
    public String place() {
      OptionalLong number = Sizes.parse(by);
      return number.isPresent()
          ? Crossings.place(Map.entry(contrast.by(), new Value.Whole(number.getAsLong())))
          : by;
    }
  }

  /**
   * A value of an axis by which it is known alone: words are, numbers have their axis beside them.
   */
  public static String place(Map.Entry<String, Value> at) {
    return at.getValue() instanceof Value.Whole(long number)
        ? at.getKey() + "=" + Amounts.setting(at.getKey(), (double) number)
        : at.getValue().text();
  }

  /** Every pair of the config for which both lines have two points or more in common. */
  public static List<Found> of(RunData data) {
    return data.derived().crossings(() -> seek(data));
  }

  private static List<Found> seek(RunData data) {
    List<Found> found = new ArrayList<>();
    for (Contrast contrast : data.contrasts()) {
      lines(data, contrast)
          .forEach((others, line) -> line.between(data, contrast, others).ifPresent(found::add));
    }
    return List.copyOf(found);
  }

  private static Map<SequencedMap<String, Value>, Line> lines(RunData data, Contrast contrast) {
    List<String> varying =
        data.axes().stream()
            .filter(axis -> axis.values().size() > 1)
            .map(Axis::name)
            .filter(name -> !name.equals(contrast.axis()) && !name.equals(contrast.over()))
            .toList();
    Map<SequencedMap<String, Value>, Line> lines = new LinkedHashMap<>();
    for (SummaryRow row : data.rows()) {
      Value side = row.axes().get(contrast.axis());
      MetricRow metric = row.metrics().get(contrast.metric());
      if (side == null
          || metric == null
          || !(row.axes().get(contrast.over()) instanceof Value.Whole(long place))) {
        continue;
      }
      SequencedMap<String, Value> others = new LinkedHashMap<>(row.axes());
      others.keySet().retainAll(varying);
      Line line = lines.computeIfAbsent(others, _ -> new Line());
      if (side.text().equals(contrast.first())) {
        line.first.put(place, metric);
        line.seed = row.seed();
      } else if (side.text().equals(contrast.second())) {
        line.second.put(place, metric);
      }
    }
    return lines;
  }

  /** Both sides of one comparison, by place along the axis. */
  private static final class Line {
    private final Map<Long, MetricRow> first = new TreeMap<>();
    private final Map<Long, MetricRow> second = new TreeMap<>();
    private long seed;

    Optional<Found> between(RunData data, Contrast contrast, SequencedMap<String, Value> others) {
      List<Long> places =
          first.keySet().stream()
              .filter(place -> place > 0 && second.containsKey(place))
              .filter(place -> positive(first.get(place)) && positive(second.get(place)))
              .toList();
      if (places.size() < 2) {
        return Optional.empty();
      }
      double[] sizes = places.stream().mapToDouble(Long::doubleValue).toArray();
      double[][] a = places.stream().map(p -> values(first, p)).toArray(double[][]::new);
      double[][] b = places.stream().map(p -> values(second, p)).toArray(double[][]::new);
      SequencedMap<String, Value> rest = new LinkedHashMap<>(others);
      Value by = rest.remove(contrast.by());
      return Optional.of(
          new Found(
              contrast,
              by == null ? "" : by.text(),
              rest,
              Crossover.between(sizes, a, b, data.seed() ^ seed)));
    }

    private static double[] values(Map<Long, MetricRow> line, long place) {
      MetricRow row = line.get(place);
      if (row == null) {
        throw new IllegalStateException("no samples at " + place);
      }
      return row.samples().values();
    }

    private static boolean positive(@Nullable MetricRow row) {
      if (row == null || row.samples().size() == 0) {
        return false;
      }
      for (double value : row.samples().values()) {
        if (!(value > 0)) {
          return false;
        }
      }
      return true;
    }
  }
}
