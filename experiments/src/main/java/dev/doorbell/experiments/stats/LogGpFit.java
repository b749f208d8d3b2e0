package dev.doorbell.experiments.stats;

import org.apache.commons.math3.fitting.leastsquares.LeastSquaresBuilder;
import org.apache.commons.math3.fitting.leastsquares.LeastSquaresOptimizer;
import org.apache.commons.math3.fitting.leastsquares.LevenbergMarquardtOptimizer;
import org.apache.commons.math3.fitting.leastsquares.MultivariateJacobianFunction;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.RealMatrix;
import org.apache.commons.math3.linear.RealVector;
import org.apache.commons.math3.util.Pair;

/**
 * The parameters of LogGP (A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, SPAA 1995) from two
 * curves over size: the latency of one message, {@code L + 2o + (N − 1)·G}, and the interval of
 * messages in a full window, {@code g + (N − 1)·G}. L and o cannot be separated from outside.
 *
 * @param latency L + 2o, ns
 * @param gap g, ns
 * @param byteGap G, ns/B
 * @param worstResidual greatest |measured − fitted| / measured over both curves: where it is large
 *     one G does not serve both
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
  private record Model(Curves curves) implements MultivariateJacobianFunction {
    Model(double[] sizes, double[] latencies, double[] intervals) {
      this(new Curves(sizes.clone(), latencies.clone(), intervals.clone()));
    }

    @Override
    public Pair<RealVector, RealMatrix> value(RealVector point) {
      int n = curves.sizes.length;
      RealVector errors = new ArrayRealVector(2 * n);
      RealMatrix jacobian = new Array2DRowRealMatrix(2 * n, 3);
      double perByte = Math.exp(point.getEntry(2));
      for (int i = 0; i < 2 * n; i++) {
        int curve = i / n;
        double measured = (curve == 0 ? curves.latencies : curves.intervals)[i % n];
        double constant = Math.exp(point.getEntry(curve));
        double bytes = (curves.sizes[i % n] - 1) * perByte;
        errors.setEntry(i, (constant + bytes) / measured - 1);
        jacobian.setEntry(i, curve, constant / measured);
        jacobian.setEntry(i, 2, bytes / measured);
      }
      return new Pair<>(errors, jacobian);
    }
  }

  /** What was measured. */
  private static final class Curves {
    private final double[] sizes;
    private final double[] latencies;
    private final double[] intervals;

    Curves(double[] sizes, double[] latencies, double[] intervals) {
      this.sizes = sizes;
      this.latencies = latencies;
      this.intervals = intervals;
    }
  }
}
