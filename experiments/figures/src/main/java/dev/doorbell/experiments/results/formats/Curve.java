package dev.doorbell.experiments.results.formats;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One metric over message size, everything else held: the subject of those tools' tables. */
record Curve(String where, List<Place> places) {

  record Place(long size, Point point, Series series) {
    double median() {
      return series.quantile(0.5);
    }
  }

  /** Ascending samples. */
  static final class Series {
    private final double[] sorted;

    Series(double[] samples) {
      sorted = samples;
      Arrays.sort(sorted);
    }

    int count() {
      return sorted.length;
    }

    double least() {
      return sorted[0];
    }

    double greatest() {
      return sorted[sorted.length - 1];
    }

    /** Between neighbours by proportion, as the rest of Doorbell does. */
    double quantile(double p) {
      double at = p * (sorted.length - 1);
      int low = (int) at;
      int high = Math.min(low + 1, sorted.length - 1);
      return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
    }

    double mean() {
      return Arrays.stream(sorted).average().orElseThrow();
    }

    /** The mean of rates over equal amounts: all of the amount over all of the time. */
    double meanOfRates() {
      return sorted.length / Arrays.stream(sorted).map(rate -> 1 / rate).sum();
    }

    double deviation() {
      double mean = mean();
      double squares = Arrays.stream(sorted).map(v -> (v - mean) * (v - mean)).sum();
      return sorted.length < 2 ? 0 : Math.sqrt(squares / (sorted.length - 1));
    }
  }

  /** The curves of one metric, in plan order; none where the run has no such samples. */
  static List<Curve> of(StoredRun run, String metric) {
    Map<String, Point> points = new HashMap<>();
    run.plan().points().forEach(point -> points.put(point.id(), point));
    Map<String, List<Place>> curves = new LinkedHashMap<>();
    for (SummaryRow row : run.data().rows()) {
      MetricRow samples = row.metrics().get(metric);
      Point point = points.get(row.pointId());
      Long size = size(point);
      if (samples != null && samples.samples().size() > 0 && point != null && size != null) {
        curves
            .computeIfAbsent(where(run.data().axes(), row), _ -> new ArrayList<>())
            .add(new Place(size, point, new Series(samples.samples().values())));
      }
    }
    return curves.entrySet().stream()
        .map(
            curve ->
                new Curve(
                    curve.getKey(),
                    curve.getValue().stream()
                        .sorted(Comparator.comparingLong(Place::size))
                        .toList()))
        .toList();
  }

  private static @Nullable Long size(@Nullable Point point) {
    return point != null && point.settings().get("size") instanceof Value.Whole(long bytes)
        ? bytes
        : null;
  }

  private static String where(List<Axis> axes, SummaryRow row) {
    return axes.stream()
        .map(Axis::name)
        .filter(name -> !name.equals("size") && row.axes().containsKey(name))
        .map(name -> name + "=" + text(row.axes().get(name)))
        .collect(Collectors.joining(" "));
  }

  private static String text(@Nullable Value value) {
    return value == null ? "-" : value.text();
  }
}
