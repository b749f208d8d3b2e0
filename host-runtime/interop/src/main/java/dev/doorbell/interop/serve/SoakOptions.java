package dev.doorbell.interop.serve;

import java.time.Duration;

/**
 * A soak of a served HCA.
 *
 * @param duration of the soak
 * @param clients connected at the same time
 * @param perSecond clients that come in a second, all together; as many as there can be if they
 *     take longer
 * @param samples of memory that are taken, evenly spaced; 8 or more
 * @param seed of sizes, bytes and partings
 */
public record SoakOptions(Duration duration, int clients, int perSecond, int samples, long seed) {
  private static final int LEAST_SAMPLES = 8;

  /** Requires at least two samples in each quarter of the time. */
  public SoakOptions {
    if (samples < LEAST_SAMPLES) {
      throw new IllegalArgumentException("%d samples are too few".formatted(samples));
    }
  }
}
