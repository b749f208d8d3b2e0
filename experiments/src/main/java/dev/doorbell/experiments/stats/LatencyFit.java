package dev.doorbell.experiments.stats;

import org.apache.commons.math3.stat.regression.OLSMultipleLinearRegression;

/**
 * The two-parameter cost of a message, {@code T(N) = alpha + gap·N}: Hockney's model, or LogGP's
 * {@code L + 2o} and {@code G} where the overheads are not separated (Alexandrov et al., "LogGP",
 * SPAA 1995).
 *
 * @param alpha time of an empty message, ns
 * @param gap time of one more byte, ns/B
 * @param alphaError standard error of {@code alpha}, ns
 * @param gapError standard error of {@code gap}, ns/B
 * @param worstResidual greatest |measured − fitted| / measured: where it is large the model does
 *     not hold
 * @param points number of sizes fitted
 */
public record LatencyFit(
    double alpha,
    double gap,
    double alphaError,
    double gapError,
    double worstResidual,
    int points) {

  /** What the fit keeps small. */
  public enum Weighting {
    /**
     * Relative errors: small messages count as much as large ones. Right for sizes over several
     * decades.
     */
    RELATIVE,
    /** Absolute errors, ordinary least squares: the largest messages decide. */
    ABSOLUTE
  }

  /**
   * Fits latencies by least squares.
   *
   * @param sizes bytes, at least two different ones and three in all
   * @param latencies ns, positive, one a size
   */
  public static LatencyFit of(double[] sizes, double[] latencies, Weighting weighting) {
    int n = sizes.length;
    if (n != latencies.length || n < 3) {
      throw new IllegalArgumentException(
          "sizes=" + n + " latencies=" + latencies.length + ": a fit needs three or more of each");
    }
    double[] y = new double[n];
    double[][] x = new double[n][];
    for (int i = 0; i < n; i++) {
      if (!(latencies[i] > 0) || !(sizes[i] >= 0)) {
        throw new IllegalArgumentException("size=" + sizes[i] + " latency=" + latencies[i]);
      }
      double weight = weighting == Weighting.RELATIVE ? 1 / latencies[i] : 1;
      y[i] = weight * latencies[i];
      x[i] = new double[] {weight, weight * sizes[i]};
    }
    OLSMultipleLinearRegression regression = new OLSMultipleLinearRegression();
    regression.setNoIntercept(true); // the weighted column of ones is the intercept
    regression.newSampleData(y, x);
    double[] parameters = regression.estimateRegressionParameters();
    double[] errors = regression.estimateRegressionParametersStandardErrors();
    double worst = 0;
    for (int i = 0; i < n; i++) {
      double fitted = parameters[0] + parameters[1] * sizes[i];
      worst = Math.max(worst, Math.abs(latencies[i] - fitted) / latencies[i]);
    }
    return new LatencyFit(parameters[0], parameters[1], errors[0], errors[1], worst, n);
  }

  /** Time of a message of {@code size} bytes by the fit, ns. */
  public double at(double size) {
    return alpha + gap * size;
  }

  /**
   * The bandwidth that large messages approach, B/ns = GB/s; infinite where the latency does not
   * grow with size.
   */
  public double bandwidth() {
    return gap > 0 ? 1 / gap : Double.POSITIVE_INFINITY;
  }
}
