package dev.doorbell.experiments.workbench.validation;

import java.util.List;

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
    return solve(normal, right);
  }

  /** Gauss's elimination of a positive definite system, in place. */
  private static double[] solve(double[][] matrix, double[] right) {
    int n = right.length;
    for (int p = 0; p < n; p++) {
      for (int r = p + 1; r < n; r++) {
        double factor = matrix[r][p] / matrix[p][p];
        for (int c = p; c < n; c++) {
          matrix[r][c] -= factor * matrix[p][c];
        }
        right[r] -= factor * right[p];
      }
    }
    double[] solution = new double[n];
    for (int p = n - 1; p >= 0; p--) {
      double rest = right[p];
      for (int c = p + 1; c < n; c++) {
        rest -= matrix[p][c] * solution[c];
      }
      solution[p] = rest / matrix[p][p];
    }
    return solution;
  }

  /**
   * Removes from {@code row} what the rows of {@code basis} explain.
   *
   * @param basis orthonormal rows; what is left joins it, normed, where it is a share of at least
   *     {@code least} of the row
   * @return whether it joined
   */
  static boolean joins(double[] row, List<double[]> basis, double least) {
    double[] rest = row.clone();
    for (double[] other : basis) {
      double share = product(rest, other);
      for (int i = 0; i < rest.length; i++) {
        rest[i] -= share * other[i];
      }
    }
    double whole = Math.sqrt(product(row, row));
    double left = Math.sqrt(product(rest, rest));
    if (whole == 0 || left < least * whole) {
      return false;
    }
    for (int i = 0; i < rest.length; i++) {
      rest[i] /= left;
    }
    basis.add(rest);
    return true;
  }

  private static double product(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }
}
