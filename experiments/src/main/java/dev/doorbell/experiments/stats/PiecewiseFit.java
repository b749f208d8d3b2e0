package dev.doorbell.experiments.stats;

import java.util.Arrays;
import java.util.Optional;
import org.apache.commons.math3.analysis.UnivariateFunction;
import org.apache.commons.math3.optim.MaxEval;
import org.apache.commons.math3.optim.nonlinear.scalar.GoalType;
import org.apache.commons.math3.optim.univariate.BrentOptimizer;
import org.apache.commons.math3.optim.univariate.SearchInterval;
import org.apache.commons.math3.optim.univariate.UnivariateObjectiveFunction;
import org.apache.commons.math3.optim.univariate.UnivariatePointValuePair;
import org.apache.commons.math3.stat.regression.OLSMultipleLinearRegression;

/**
 * A cost that is a line up to a knee and another line from there, without a jump: {@code T(N) =
 * alpha + below·N} and {@code + (above − below)·(N − knee)} beyond the knee. What a cache, a window
 * or a buffer that runs out makes of a latency (D. V. Hinkley, "Inference in Two-Phase Regression",
 * JASA 66(336), 1971).
 *
 * @param knee bytes; between two of the sizes that were fitted
 * @param alpha time of an empty message, ns
 * @param below time of one more byte up to the knee, ns/B
 * @param above time of one more byte from there on, ns/B
 * @param worstResidual greatest |measured − fitted| / measured
 * @param lineResidual the same of the best single line: where it is hardly greater, there is no
 *     knee
 */
public record PiecewiseFit(
    double knee,
    double alpha,
    double below,
    double above,
    double worstResidual,
    double lineResidual) {

  /** Two of them fix the line below the knee, two the line above, one the knee. */
  public static final int LEAST = 5;

  private static final int MOST_EVALUATIONS = 200;

  /** A knee that does not halve the worst residual explains nothing. */
  private static final double WORTHWHILE = 0.5;

  /**
   * Fits by least squares of relative errors.
   *
   * @param sizes bytes, positive, ascending, {@link #LEAST} or more
   * @param latencies ns, positive, one a size
   */
  public static PiecewiseFit of(double[] sizes, double[] latencies) {
    int n = sizes.length;
    if (n != latencies.length || n < LEAST) {
      throw new IllegalArgumentException(
          "sizes=%d latencies=%d: %d or more of each".formatted(n, latencies.length, LEAST));
    }
    double[] best = {Double.NaN, Double.POSITIVE_INFINITY};
    // Between two sizes the sum of squares is smooth; over all of them it has many valleys.
    for (int i = 1; i + 2 < n; i++) {
      double lower = Math.log(sizes[i]);
      double upper = Math.log(sizes[i + 1]);
      if (!(sizes[i] > sizes[i - 1]) || !(upper > lower)) {
        throw new IllegalArgumentException("sizes must be positive and ascend: " + sizes[i]);
      }
      UnivariateFunction squares = knee -> new Lines(sizes, latencies, Math.exp(knee)).squares();
      UnivariatePointValuePair found =
          new BrentOptimizer(1e-10, 1e-12)
              .optimize(
                  new MaxEval(MOST_EVALUATIONS),
                  new UnivariateObjectiveFunction(squares),
                  GoalType.MINIMIZE,
                  new SearchInterval(lower, upper));
      if (found.getValue() < best[1]) {
        best = new double[] {Math.exp(found.getPoint()), found.getValue()};
      }
    }
    Lines lines = new Lines(sizes, latencies, best[0]);
    double line = LatencyFit.of(sizes, latencies, LatencyFit.Weighting.RELATIVE).worstResidual();
    return new PiecewiseFit(
        best[0],
        lines.parameters[0],
        lines.parameters[1],
        lines.parameters[1] + lines.parameters[2],
        lines.worst(),
        line);
  }

  /** A fit that explains what a line does not; nothing where a line does, or sizes are too few. */
  public static Optional<PiecewiseFit> worthwhile(double[] sizes, double[] latencies) {
    if (sizes.length < LEAST) {
      return Optional.empty();
    }
    PiecewiseFit fit = of(sizes, latencies);
    return fit.worstResidual < WORTHWHILE * fit.lineResidual ? Optional.of(fit) : Optional.empty();
  }

  /** Time of a message of {@code size} bytes by the fit, ns. */
  public double at(double size) {
    return alpha + below * size + (above - below) * Math.max(0, size - knee);
  }

  /** The best two lines for one knee. */
  private static final class Lines {
    private final double[] parameters;
    private final double[] residuals;

    Lines(double[] sizes, double[] latencies, double knee) {
      double[] ones = new double[sizes.length];
      Arrays.fill(ones, 1);
      double[][] x = new double[sizes.length][];
      for (int i = 0; i < sizes.length; i++) {
        double weight = 1 / latencies[i];
        x[i] = new double[] {weight, weight * sizes[i], weight * Math.max(0, sizes[i] - knee)};
      }
      OLSMultipleLinearRegression regression = new OLSMultipleLinearRegression();
      regression.setNoIntercept(true); // the weighted column of ones is the intercept
      regression.newSampleData(ones, x);
      parameters = regression.estimateRegressionParameters();
      residuals = regression.estimateResiduals();
    }

    double squares() {
      return Arrays.stream(residuals).map(r -> r * r).sum();
    }

    double worst() {
      return Arrays.stream(residuals).map(Math::abs).max().orElse(0);
    }
  }
}
