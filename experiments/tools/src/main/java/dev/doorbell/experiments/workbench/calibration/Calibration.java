package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.Summary;
import java.util.List;
import java.util.Optional;

/**
 * The measurements of one machine.
 *
 * @param gpu its name, such as {@code NVIDIA H200}
 * @param basis measured on hardware, or modelled where a virtual machine was
 * @param complete false when it was interrupted
 */
public record Calibration(
    String gpu, Basis basis, boolean complete, List<Measurement> measurements) {

  public Optional<Measurement> find(String name) {
    return measurements.stream().filter(each -> each.name().equals(name)).findFirst();
  }

  /**
   * One quantity with its samples.
   *
   * @param what it is, in words
   * @param samples named by the quantity, such as {@code load.device}; in ns or GB/s
   */
  public record Measurement(String what, Samples samples) {
    private static final long SEED = 1;

    public String name() {
      return samples.metric();
    }

    /** Median, interval and range; always the same for the same samples. */
    public Summary summary() {
      return Summary.of(samples.values(), SEED);
    }
  }
}
