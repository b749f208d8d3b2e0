package dev.doorbell.experiments.stats;

import java.util.Arrays;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * Samples that several processes took, one process after the other and each as many. In wall time
 * processes differ by more than the samples inside one: where its memory lies, which code its
 * compiler chose. A process is then one observation, and its median is what it observed.
 */
public final class Processes {
  private Processes() {}

  /**
   * The median of each process's samples.
   *
   * @param samples those of the first process, then those of the second, and so on
   * @throws IllegalArgumentException where they cannot be as many from each
   */
  public static double[] medians(double[] samples, int processes) {
    if (processes < 1 || samples.length == 0 || samples.length % processes != 0) {
      throw new IllegalArgumentException(
          "%d samples are not of %d processes".formatted(samples.length, processes));
    }
    int each = samples.length / processes;
    double[] medians = new double[processes];
    for (int i = 0; i < processes; i++) {
      medians[i] =
          Quantiles.medianOfSorted(
              Quantiles.sortedCopy(Arrays.copyOfRange(samples, i * each, (i + 1) * each)));
    }
    return medians;
  }

  /**
   * Student's 95 % interval of what processes observe, from their medians: it covers the difference
   * between processes, and is wide where they are few. Times and rates differ by factors, so it is
   * one of their logarithms; of values that are not all positive, one of the values.
   *
   * @param medians of two processes or more
   */
  static Interval interval(double[] medians) {
    if (Arrays.stream(medians).allMatch(each -> each > 0)) {
      Interval logarithms = student(Arrays.stream(medians).map(Math::log).toArray());
      return new Interval(Math.exp(logarithms.lower()), Math.exp(logarithms.upper()));
    }
    return student(medians);
  }

  private static Interval student(double[] values) {
    int n = values.length;
    double mean = Arrays.stream(values).average().orElseThrow();
    double squares = Arrays.stream(values).map(each -> (each - mean) * (each - mean)).sum();
    double error = Math.sqrt(squares / (n - 1) / n);
    double t = new TDistribution(null, n - 1.0).inverseCumulativeProbability(0.975);
    return new Interval(mean - t * error, mean + t * error);
  }
}
