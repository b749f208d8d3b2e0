package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Change;
import dev.doorbell.experiments.stats.Interval;
import dev.doorbell.experiments.stats.SampleSize;
import dev.doorbell.experiments.stats.Statistic;
import dev.doorbell.experiments.stats.Summary;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Values of each point for lines and bars: a statistic of a metric, a counter, or a quotient of two
 * of these, in the unit that the figure asks for.
 */
final class FigureValues {
  private final RunData run;
  private final FigureSpec spec;
  private final Statistic statistic;
  private final UnitConversion conversion;

  /** A value with the ends of its whisker; a count has one sample. */
  record Reading(double value, Interval whisker, Samples samples, long seed) {
    int n() {
      return samples.size();
    }

    boolean constant() {
      return Arrays.stream(samples.values()).distinct().count() <= 1;
    }

    Reading times(double factor) {
      return new Reading(
          value * factor,
          new Interval(whisker.lower() * factor, whisker.upper() * factor),
          samples,
          seed);
    }
  }

  FigureValues(RunData run, FigureSpec spec) throws Unplottable {
    this.run = run;
    this.spec = spec;
    this.statistic = Statistic.of(spec.statistic());
    for (String metric : List.of(spec.y(), spec.per())) {
      if (!metric.isEmpty() && run.rows().stream().noneMatch(row -> has(row, metric))) {
        throw Unplottable.metric(run, metric);
      }
    }
    if (run.rows().stream().noneMatch(row -> of(row, spec.y()).isPresent())) {
      int most =
          run.rows().stream()
              .map(row -> row.metrics().get(spec.y()))
              .mapToInt(metric -> metric == null ? 0 : metric.samples().size())
              .max()
              .orElse(0);
      throw Unplottable.because(
          run.runId(),
          "%s needs %d samples, and no point has more than %d of %s"
              .formatted(statistic.word(), statistic.needs(), most, spec.y()),
          "run with measure: samples: %d, or choose another --statistic"
              .formatted(statistic.needs()));
    }
    this.conversion = UnitConversion.of(run.runId(), "yunit", unit(), spec.style().yUnit());
  }

  private static boolean has(SummaryRow row, String metric) {
    MetricRow found = row.metrics().get(metric);
    return (found != null && found.samples().size() > 0) || row.counters().containsKey(metric);
  }

  Optional<Reading> of(SummaryRow row) {
    Optional<Reading> top = of(row, spec.y());
    Optional<Reading> whole =
        spec.per().isEmpty()
            ? top
            : top.flatMap(value -> of(row, spec.per()).flatMap(by -> over(value, by, true)));
    return whole.map(
        reading -> conversion.factor() == 1 ? reading : reading.times(conversion.factor()));
  }

  /**
   * Readings of the rows of one place: as they are, or, where there is a base, as multiples of the
   * base's; empty where that has none.
   *
   * @param base a series, or an empty text
   * @param at what a row and its base have in common
   */
  <K> Function<SummaryRow, Optional<Reading>> of(
      List<SummaryRow> rows,
      String base,
      Function<SummaryRow, String> series,
      Function<SummaryRow, K> at) {
    if (base.isEmpty()) {
      return this::of;
    }
    Map<K, Reading> bases = new HashMap<>();
    rows.stream()
        .filter(row -> series.apply(row).equals(base))
        .forEach(row -> of(row).ifPresent(reading -> bases.put(at.apply(row), reading)));
    return row ->
        of(row)
            .flatMap(
                reading ->
                    Optional.ofNullable(bases.get(at.apply(row)))
                        .flatMap(under -> relative(reading, under)));
  }

  private Optional<Reading> of(SummaryRow row, String metric) {
    MetricRow found = row.metrics().get(metric);
    if (found == null || found.samples().size() == 0) {
      Quantity counter = row.counters().get(metric);
      return counter == null ? Optional.empty() : Optional.of(exact(counter.value(), row.seed()));
    }
    Samples taken = found.samples();
    if (statistic.isMedian()) {
      Summary summary = SummaryFiles.summary(row, found);
      return Optional.of(new Reading(summary.median(), summary.whisker(), taken, row.seed()));
    }
    if (taken.size() < statistic.needs()) {
      return Optional.empty();
    }
    double[] samples = taken.values();
    double value = statistic.value(samples);
    Interval whisker = statistic.interval(samples, row.seed()).orElse(new Interval(value, value));
    return Optional.of(new Reading(value, whisker, taken, row.seed()));
  }

  private static Reading exact(double value, long seed) {
    return new Reading(value, new Interval(value, value), Samples.of("", "", value), seed);
  }

  /** One value as a multiple of another series' at its place; empty where that is zero. */
  private Optional<Reading> relative(Reading value, Reading base) {
    if (value.samples().equals(base.samples()) && value.value() == base.value()) {
      return Optional.of(exact(1, value.seed()));
    }
    return over(value, base, spec.per().isEmpty());
  }

  /** A quotient; {@code raw} if both values are statistics of their samples. */
  private Optional<Reading> over(Reading value, Reading by, boolean raw) {
    if (by.value() == 0) {
      return Optional.empty();
    }
    double ratio = value.value() / by.value();
    Interval whisker = new Interval(ratio, ratio);
    if (raw && statistic.isMedian() && by.value() > 0) {
      whisker =
          Change.between(by.samples().values(), value.samples().values(), value.seed())
              .interval()
              .map(change -> new Interval(change.lower() + 1, change.upper() + 1))
              .orElse(whisker);
    }
    Samples fewer = value.n() <= by.n() ? value.samples() : by.samples();
    return Optional.of(new Reading(ratio, whisker, fewer, value.seed()));
  }

  /**
   * Title of the ordinate: the metric and its statistic, unless the figure gives the metric another
   * name.
   */
  String title(String base) {
    Optional<String> given = spec.style().named(spec.y());
    boolean counted = run.rows().stream().allMatch(row -> !row.metrics().containsKey(spec.y()));
    String per = spec.per().isEmpty() ? "" : " per " + called(spec.per());
    String statistic = counted || given.isPresent() ? "" : ", " + this.statistic.word();
    String relative = spec.relative().isEmpty() ? "" : ", relative to " + base;
    return called(spec.y()) + per + statistic + relative;
  }

  private String called(String metric) {
    return spec.style().named(metric).orElse(Names.title(metric));
  }

  private String unit() {
    if (!spec.relative().isEmpty()) {
      return "";
    }
    String unit = unit(spec.y());
    if (spec.per().isEmpty()) {
      return unit;
    }
    String by = unit(spec.per());
    return by.isEmpty() ? unit : unit.equals(by) ? "" : unit + " per " + by;
  }

  private String unit(String metric) {
    return run.rows().stream()
        .flatMap(
            row -> {
              MetricRow sampled = row.metrics().get(metric);
              return sampled != null && sampled.samples().size() > 0
                  ? Stream.of(sampled.samples().unit())
                  : Stream.ofNullable(row.counters().get(metric)).map(Quantity::unit);
            })
        .findFirst()
        .orElse("");
  }

  UnitConversion conversion() {
    return conversion;
  }

  /** Returns true if the model's ceilings and the crossovers of medians apply to the values. */
  boolean plainMedians() {
    return statistic.isMedian() && spec.per().isEmpty();
  }

  String note() {
    List<Reading> all = run.rows().stream().map(this::of).flatMap(Optional::stream).toList();
    int least = all.stream().mapToInt(Reading::n).min().orElse(0);
    int most = all.stream().mapToInt(Reading::n).max().orElse(0);
    if (run.rows().stream().allMatch(row -> !row.metrics().containsKey(spec.y()))) {
      return "counted, once a point";
    }
    boolean quotient = !spec.relative().isEmpty() && !plainMedians();
    boolean none =
        quotient
            || (!statistic.isMedian()
                && all.stream().allMatch(r -> r.whisker().lower() == r.whisker().upper()));
    String n = least == most ? "" + least : least + " to " + most;
    if (none) {
      return "%s of n = %s a point, without intervals".formatted(statistic.word(), n);
    }
    return "n = %s a point, %s"
        .formatted(
            n,
            SampleSize.carriesInterval(most)
                ? "whiskers 95 % bootstrap intervals"
                : run.basis() == Basis.MODELLED && all.stream().allMatch(Reading::constant)
                    ? "deterministic"
                    : most <= 1 ? "which has no interval" : "too few for intervals");
  }
}
