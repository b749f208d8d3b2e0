package dev.doorbell.experiments.stats;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ChengBetaSampler;
import org.apache.commons.rng.sampling.distribution.ContinuousSampler;

/**
 * Draws the median of a bootstrap resample without drawing the resample, so that a replicate costs
 * the same for ten samples as for ten million.
 *
 * <p>A resample of {@code n} picks {@code n} ranks {@code floor(n·U)} with {@code U} uniform; its
 * order statistics are therefore at the ranks of the order statistics of {@code n} uniforms. The
 * {@code m}-th of those is Beta({@code m}, {@code n+1-m}), and given it the next one is the least
 * of {@code n-m} uniforms on what is left (Devroye, Non-Uniform Random Variate Generation, 1986,
 * chapter V). One or two draws thus have exactly the distribution of the naive bootstrap's median.
 */
final class MedianResampler {

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
