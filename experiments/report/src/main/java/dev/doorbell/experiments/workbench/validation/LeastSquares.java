package dev.doorbell.experiments.workbench.validation;

import java.util.List;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.CholeskyDecomposition;
import org.apache.commons.math3.linear.RealVector;

/** Linear algebra of a fit, in relative changes of parameters and rows. */
final class LeastSquares {
  /** Keeps a step small where rows say nothing about it. */
  private static final double RIDGE = 1e-4;

  private LeastSquares() {}

  /**
   * Changes of the logarithms of parameters that bring rows nearest.
   *
   * @param missing logarithm of measured over modelled, by row; NaN for a row that is left out
   * @param effects of each parameter on each row
   */
  static double[] step(double[] missing, List<double[]> effects) {
    int n = effects.size();
    if (n == 0) {
      return new double[0];
    }
    double[][] normal = new double[n][n];
    double[] right = new double[n];
    for (int i = 0; i < missing.length; i++) {
      for (int a = 0; a < n && !Double.isNaN(missing[i]); a++) {
        double effect = effects.get(a)[i];
        right[a] += effect * missing[i];
        for (int b = 0; b < n; b++) {
          normal[a][b] += effect * effects.get(b)[i];
        }
      }
    }
    for (int a = 0; a < n; a++) {
      normal[a][a] += RIDGE;
    }
    return new CholeskyDecomposition(new Array2DRowRealMatrix(normal, false))
        .getSolver()
        .solve(new ArrayRealVector(right, false))
        .toArray();
  }

  /**
   * Removes from {@code row} what the rows of {@code basis} explain.
   *
   * @param basis orthonormal rows; what is left joins it, normed, where it is a share of at least
   *     {@code least} of the row
   * @return whether it joined
   */
  static boolean joins(double[] row, List<RealVector> basis, double least) {
    RealVector whole = new ArrayRealVector(row);
    RealVector rest = whole;
    for (RealVector other : basis) {
      rest = rest.subtract(other.mapMultiply(rest.dotProduct(other)));
    }
    if (whole.getNorm() == 0 || rest.getNorm() < least * whole.getNorm()) {
      return false;
    }
    basis.add(rest.unitVector());
    return true;
  }
}
