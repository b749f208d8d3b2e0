package dev.doorbell.experiments.stats;

import java.util.function.ToDoubleFunction;
import org.apache.commons.math3.distribution.NormalDistribution;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ChengBetaSampler;
import org.apache.commons.rng.sampling.distribution.ContinuousSampler;
import org.apache.commons.rng.simple.RandomSource;

/**
 * Bootstrap confidence intervals by percentiles.
 *
 * <p>B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13. Seeded: the
 * same samples and seed give the same interval.
 */
public final class Bootstrap {

  /** The confidence level of every interval that is printed without another. */
  public static final double LEVEL = 0.95;

  /**
   * Replicates behind an interval: its ends then vary by a few percent of its width from seed to
   * seed.
   */
  public static final int REPLICATES = 4000;

  private Bootstrap() {}

  /**
   * The percentile interval of the median at {@link #LEVEL}; of zero width where all samples are
   * equal.
   */
  public static Interval ofMedian(double[] samples, long seed) {
    return ofSortedMedian(Quantiles.sortedCopy(samples), seed);
  }

  static Interval ofSortedMedian(double[] sorted, long seed) {
    if (sorted[0] == sorted[sorted.length - 1]) {
      return new Interval(sorted[0], sorted[0]);
    }
    return percentile(medianReplicates(sorted, REPLICATES, seed), LEVEL);
  }

  static double[] medianReplicates(double[] sorted, int count, long seed) {
    MedianResampler resampler = new MedianResampler(sorted, random(seed));
    double[] replicates = new double[count];
    for (int i = 0; i < count; i++) {
      replicates[i] = resampler.next();
    }
    return replicates;
  }

  /**
   * The percentile interval of any statistic, by resampling.
   *
   * @param statistic a pure function that leaves its argument as it is
   * @param level coverage wanted, such as 0.95
   * @param count replicates; each costs one resample of all samples
   */
  public static Interval percentile(
      double[] samples, ToDoubleFunction<double[]> statistic, double level, int count, long seed) {
    return percentile(replicates(samples, statistic, count, seed), level);
  }

  /** The central part of replicates that holds {@code level} of them. */
  static Interval percentile(double[] replicates, double level) {
    double[] sorted = Quantiles.sortedCopy(replicates);
    double tail = (1 - checked(level)) / 2;
    return new Interval(Quantiles.ofSorted(sorted, tail), Quantiles.ofSorted(sorted, 1 - tail));
  }

  static double[] replicates(
      double[] samples, ToDoubleFunction<double[]> statistic, int count, long seed) {
    if (samples.length == 0 || count < 1) {
      throw new IllegalArgumentException("samples=" + samples.length + " replicates=" + count);
    }
    UniformRandomProvider random = random(seed);
    double[] resample = new double[samples.length];
    double[] replicates = new double[count];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < resample.length; j++) {
        resample[j] = samples[random.nextInt(samples.length)];
      }
      replicates[i] = statistic.applyAsDouble(resample);
    }
    return replicates;
  }

  private static double checked(double level) {
    if (!(level > 0 && level < 1)) {
      throw new IllegalArgumentException("level=" + level + " is not between 0 and 1");
    }
    return level;
  }

  static double normal(double p) {
    return NORMAL.inverseCumulativeProbability(p);
  }

  static UniformRandomProvider random(long seed) {
    return RandomSource.XO_SHI_RO_256_PP.create(seed);
  }

  /** Without a generator of its own: nothing here samples it. */
  private static final NormalDistribution NORMAL = new NormalDistribution(null, 0, 1);

  /**
   * Draws the median of a bootstrap resample without drawing the resample, so that a replicate
   * costs the same for ten samples as for ten million.
   *
   * <p>A resample of {@code n} picks {@code n} ranks {@code floor(n·U)} with {@code U} uniform; its
   * order statistics are therefore at the ranks of the order statistics of {@code n} uniforms. The
   * {@code m}-th of those is Beta({@code m}, {@code n+1-m}), and given it the next one is the least
   * of {@code n-m} uniforms on what is left (Devroye, Non-Uniform Random Variate Generation, 1986,
   * chapter V). One or two draws thus have exactly the distribution of the naive bootstrap's
   * median.
   */
  static final class MedianResampler {

    private final double[] sorted;
    private final UniformRandomProvider random;
    private final ContinuousSampler lowerMiddle;
    private final boolean odd;
    private final boolean constant;
    private final double inverseAbove;

    /** Resamples ascending values, which the caller does not change afterwards. */
    MedianResampler(double[] sorted, UniformRandomProvider random) {
      int n = sorted.length;
      int m = (n + 1) / 2;
      this.sorted = sorted;
      this.random = random;
      this.odd = (n & 1) == 1;
      this.constant = sorted[0] == sorted[n - 1];
      this.lowerMiddle = ChengBetaSampler.of(random, m, n + 1.0 - m);
      this.inverseAbove = odd ? 0 : 1.0 / (n - m);
    }

    double next() {
      if (constant) {
        return sorted[0];
      }
      double u = lowerMiddle.sample();
      double low = sorted[rank(u)];
      if (odd) {
        return low;
      }
      // The least of k uniforms exceeds t with probability (1-t)^k.
      double next = 1 - (1 - u) * Math.pow(random.nextDouble(), inverseAbove);
      return Quantiles.middle(low, sorted[rank(Math.max(u, next))]);
    }

    private int rank(double u) {
      return Math.min((int) (u * sorted.length), sorted.length - 1);
    }
  }
}
