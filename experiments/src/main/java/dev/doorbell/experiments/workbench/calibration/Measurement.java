package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.Summary;

/**
 * One quantity with its samples.
 *
 * @param what it is, in words
 * @param samples named by the quantity, such as {@code load.device}; in ns or GB/s
 */
public record Measurement(String what, Samples samples) {
  private static final long SEED = 1;

  /** The quantity. */
  public String name() {
    return samples.metric();
  }

  /** Median, interval and range; always the same for the same samples. */
  public Summary summary() {
    return Summary.of(samples.values(), SEED);
  }
}
