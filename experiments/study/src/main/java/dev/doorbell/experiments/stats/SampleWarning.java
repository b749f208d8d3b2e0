package dev.doorbell.experiments.stats;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A reason to distrust a statistic of some samples, and a remedy.
 *
 * @param what what was seen, with its numbers
 * @param advice what to do about it
 */
public record SampleWarning(Kind kind, String what, String advice) {

  /** Kind of warning. */
  public enum Kind {
    /** Too few samples for an interval of the median at 95 %. */
    FEW,
    /** The samples change while they are taken. */
    DRIFT,
    /** Each sample says something about the next. */
    DEPENDENCE,
    /** Some samples lie far from all others. */
    OUTLIERS;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** One false alarm in a thousand: warnings are raised for hundreds of points at once. */
  private static final double RARE = 0.001;

  private static final double NOTABLE_DRIFT = 0.01;
  private static final double NOTABLE_CORRELATION = 0.2;

  /**
   * Share of the median. Ties can make a quartile range next to nothing, as in virtual time, and
   * then anything else lies beyond the fences.
   */
  private static final double NOTABLE_DISTANCE = 0.01;

  /** Looks at samples in the order in which they were taken; equal samples raise nothing. */
  public static List<SampleWarning> about(double[] samples) {
    return aboutOwned(samples.clone());
  }

  /**
   * Warns as {@link #about} does, and leaves the samples in ascending order: for millions of them.
   */
  public static List<SampleWarning> aboutOwned(double[] samples) {
    List<SampleWarning> warnings = new ArrayList<>();
    if (samples.length >= Stationarity.LEAST) {
      course(Stationarity.of(samples), warnings);
    }
    Quantiles.sort(samples);
    if (samples[0] == samples[samples.length - 1]) {
      return List.of();
    }
    if (!SampleSize.carriesInterval(samples.length)) {
      warnings.add(
          new SampleWarning(
              Kind.FEW,
              "%d samples cannot carry a 95 %% interval of the median".formatted(samples.length),
              "take %d or more".formatted(SampleSize.INTERVAL)));
    }
    if (samples.length >= Stationarity.LEAST) {
      outliers(samples, warnings);
    }
    return warnings;
  }

  private static void course(Stationarity course, List<SampleWarning> warnings) {
    if (course.trend() < RARE && Math.abs(course.drift()) >= NOTABLE_DRIFT) {
      warnings.add(
          new SampleWarning(
              Kind.DRIFT,
              text(
                  "the second half is %+.1f %% off the first (Mann-Kendall p %s)",
                  course.drift() * 100, small(course.trend())),
              "warm up longer, fix the clocks, or look for a queue that fills up"));
    }
    if (course.dependence() < RARE && Math.abs(course.lagOne()) >= NOTABLE_CORRELATION) {
      warnings.add(
          new SampleWarning(
              Kind.DEPENDENCE,
              text(
                  "samples follow each other (correlation %.2f, Ljung-Box p %s)",
                  course.lagOne(), small(course.dependence())),
              "intervals are too narrow and p too small: repeat the point with --repeat"));
    }
  }

  /** The outer fences of J. W. Tukey, Exploratory Data Analysis, 1977. */
  private static void outliers(double[] sorted, List<SampleWarning> warnings) {
    double median = Quantiles.medianOfSorted(sorted);
    double q1 = Quantiles.ofSorted(sorted, 0.25);
    double q3 = Quantiles.ofSorted(sorted, 0.75);
    double far = Math.max(3 * (q3 - q1), NOTABLE_DISTANCE * Math.abs(median));
    if (far == 0 && median == 0) {
      // Most samples are nothing, as waits for a ring that is rarely full: the others are the rest
      // of that distribution, not far out of it.
      return;
    }
    int count = 0;
    for (double sample : sorted) {
      count += sample < q1 - far || sample > q3 + far ? 1 : 0;
    }
    if (count > 0) {
      warnings.add(
          new SampleWarning(
              Kind.OUTLIERS,
              text(
                  "%d of %d samples %s far out, the farthest at %s",
                  count, sorted.length, count == 1 ? "lies" : "lie", farthest(sorted, median)),
              "look for a pause (collector, clock, another tenant), and report the tail as well"));
    }
  }

  private static String small(double p) {
    return p < 1e-4 ? "< 0.0001" : text("%.1g", p);
  }

  private static String farthest(double[] sorted, double median) {
    double least = sorted[0];
    double most = sorted[sorted.length - 1];
    double far = median - least > most - median ? least : most;
    return median == 0
        ? text("%.3g with a median of 0", far)
        : text("%+.1f %% from the median", 100 * (far / median - 1));
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
