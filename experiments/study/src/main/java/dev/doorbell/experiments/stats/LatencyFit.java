package dev.doorbell.experiments.stats;

import java.util.Arrays;
import java.util.Optional;
import org.apache.commons.math3.analysis.UnivariateFunction;
import org.apache.commons.math3.fitting.leastsquares.LeastSquaresBuilder;
import org.apache.commons.math3.fitting.leastsquares.LeastSquaresOptimizer;
import org.apache.commons.math3.fitting.leastsquares.LevenbergMarquardtOptimizer;
import org.apache.commons.math3.fitting.leastsquares.MultivariateJacobianFunction;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.RealMatrix;
import org.apache.commons.math3.linear.RealVector;
import org.apache.commons.math3.optim.MaxEval;
import org.apache.commons.math3.optim.nonlinear.scalar.GoalType;
import org.apache.commons.math3.optim.univariate.BrentOptimizer;
import org.apache.commons.math3.optim.univariate.SearchInterval;
import org.apache.commons.math3.optim.univariate.UnivariateObjectiveFunction;
import org.apache.commons.math3.optim.univariate.UnivariatePointValuePair;
import org.apache.commons.math3.stat.regression.OLSMultipleLinearRegression;
import org.apache.commons.math3.util.Pair;

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

  /**
   * Fits latencies by least squares of relative errors: small messages count as much as large ones.
   *
   * @param sizes bytes, at least two different ones and three in all
   * @param latencies ns, positive, one a size
   */
  public static LatencyFit of(double[] sizes, double[] latencies) {
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
      double weight = 1 / latencies[i];
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

  /**
   * The parameters of LogGP (A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, SPAA 1995) from
   * two curves over size: the latency of one message, {@code L + 2o + (N − 1)·G}, and the interval
   * of messages in a full window, {@code g + (N − 1)·G}. L and o cannot be separated from outside.
   *
   * @param latency L + 2o, ns
   * @param gap g, ns
   * @param byteGap G, ns/B
   * @param worstResidual greatest |measured − fitted| / measured over both curves: where it is
   *     large one G does not serve both
   */
  public record LogGpFit(double latency, double gap, double byteGap, double worstResidual) {

    private static final int MOST_EVALUATIONS = 1000;

    /**
     * Fits by least squares of relative errors. None of the parameters can come out negative: it is
     * their logarithms that are fitted.
     *
     * @param sizes bytes, at least 1, ascending, two or more
     * @param latencies of one message, ns, positive
     * @param intervals of messages in a full window, ns, positive
     */
    public static LogGpFit of(double[] sizes, double[] latencies, double[] intervals) {
      int n = sizes.length;
      if (n < 2 || latencies.length != n || intervals.length != n || !(sizes[0] >= 1)) {
        throw new IllegalArgumentException(
            "sizes=%d latencies=%d intervals=%d: two or more of each, sizes from 1 B"
                .formatted(n, latencies.length, intervals.length));
      }
      double spread = sizes[n - 1] - sizes[0];
      double slope = Math.max((intervals[n - 1] - intervals[0]) / spread, 1e-6);
      double[] start = {
        Math.log(latencies[0]), Math.log(intervals[0]), Math.log(slope),
      };
      LeastSquaresOptimizer.Optimum optimum =
          new LevenbergMarquardtOptimizer()
              .optimize(
                  new LeastSquaresBuilder()
                      .start(start)
                      .model(new Model(sizes, latencies, intervals))
                      .target(new double[2 * n])
                      .maxEvaluations(MOST_EVALUATIONS)
                      .maxIterations(MOST_EVALUATIONS)
                      .build());
      RealVector point = optimum.getPoint();
      return new LogGpFit(
          Math.exp(point.getEntry(0)),
          Math.exp(point.getEntry(1)),
          Math.exp(point.getEntry(2)),
          optimum.getResiduals().getLInfNorm());
    }

    /** Relative errors, and their derivatives by the logarithms of the parameters. */
    @SuppressWarnings("ArrayRecordComponent") // of one fit, never compared
    private record Model(double[] sizes, double[] latencies, double[] intervals)
        implements MultivariateJacobianFunction {

      @Override
      public Pair<RealVector, RealMatrix> value(RealVector point) {
        int n = sizes.length;
        RealVector errors = new ArrayRealVector(2 * n);
        RealMatrix jacobian = new Array2DRowRealMatrix(2 * n, 3);
        double perByte = Math.exp(point.getEntry(2));
        for (int i = 0; i < 2 * n; i++) {
          int curve = i / n;
          double measured = (curve == 0 ? latencies : intervals)[i % n];
          double constant = Math.exp(point.getEntry(curve));
          double bytes = (sizes[i % n] - 1) * perByte;
          errors.setEntry(i, (constant + bytes) / measured - 1);
          jacobian.setEntry(i, curve, constant / measured);
          jacobian.setEntry(i, 2, bytes / measured);
        }
        return new Pair<>(errors, jacobian);
      }
    }
  }

  /**
   * A cost that is a line up to a knee and another line from there, without a jump: {@code T(N) =
   * alpha + below·N} and {@code + (above − below)·(N − knee)} beyond the knee. What a cache, a
   * window or a buffer that runs out makes of a latency (D. V. Hinkley, "Inference in Two-Phase
   * Regression", JASA 66(336), 1971).
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
      double line = LatencyFit.of(sizes, latencies).worstResidual();
      return new PiecewiseFit(
          best[0],
          lines.parameters[0],
          lines.parameters[1],
          lines.parameters[1] + lines.parameters[2],
          lines.worst(),
          line);
    }

    /**
     * A fit that explains what a line does not; nothing where a line does, or sizes are too few.
     */
    public static Optional<PiecewiseFit> worthwhile(double[] sizes, double[] latencies) {
      if (sizes.length < LEAST) {
        return Optional.empty();
      }
      PiecewiseFit fit = of(sizes, latencies);
      return fit.worstResidual < WORTHWHILE * fit.lineResidual
          ? Optional.of(fit)
          : Optional.empty();
    }

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
}
