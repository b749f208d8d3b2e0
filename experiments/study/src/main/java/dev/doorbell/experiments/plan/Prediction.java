package dev.doorbell.experiments.plan;

import java.util.List;
import java.util.Optional;

/**
 * Values that the closed forms give for a point, before it is run.
 *
 * @param terms one a metric that the model speaks of
 */
public record Prediction(List<Term> terms) {
  public Prediction {
    terms = List.copyOf(terms);
  }

  /** Nothing predicted. */
  public static Prediction none() {
    return new Prediction(List.of());
  }

  /** The term of a metric, where there is one. */
  public Optional<Term> of(String metric) {
    return terms.stream().filter(term -> term.metric().equals(metric)).findFirst();
  }

  /**
   * One predicted metric.
   *
   * @param metric as in the samples, such as {@code latency}
   * @param unit as in the samples
   * @param formula the closed form with its name, such as {@code T_a3 = o_g + 2 F_d + ...}
   * @param bounds true when the value bounds the metric (a bandwidth that cannot be passed, a time
   *     that cannot be undercut), false when it estimates it
   */
  public record Term(String metric, double value, String unit, String formula, boolean bounds) {
    /** Side of the bound: a time lasts no less, and all else is no more. */
    public boolean floor() {
      return bounds && unit.equals("ns");
    }

    /** Returns true if the metric is no more than the value. */
    public boolean ceiling() {
      return bounds && !floor();
    }
  }
}
