package dev.doorbell.experiments.results.compare;

import java.util.Set;

/**
 * How runs are compared.
 *
 * @param metrics to compare; empty for every one that both runs sampled
 * @param alpha the chance of a false alarm among all points and metrics together
 * @param threshold relative change of a median that counts
 */
public record Rules(Set<String> metrics, double alpha, double threshold) {
  /** All metrics, one false alarm in twenty, changes above one percent. */
  public static final Rules DEFAULT = new Rules(Set.of(), 0.05, 0.01);

  public Rules {
    metrics = Set.copyOf(metrics);
    if (!(alpha > 0 && alpha < 1) || !(threshold >= 0)) {
      throw new IllegalArgumentException("alpha=%s threshold=%s".formatted(alpha, threshold));
    }
  }
}
