package dev.doorbell.experiments.calibration;

import dev.doorbell.core.Basis;
import java.util.List;
import java.util.Optional;

/**
 * What was measured on one machine.
 *
 * @param gpu its name, such as {@code NVIDIA H200}
 * @param basis measured on hardware, or modelled where a virtual machine was
 * @param complete false when it was interrupted
 */
public record Calibration(
    String gpu, Basis basis, boolean complete, List<Measurement> measurements) {

  public Calibration {
    measurements = List.copyOf(measurements);
  }

  /** The measurement of that name. */
  public Optional<Measurement> find(String name) {
    return measurements.stream().filter(each -> each.name().equals(name)).findFirst();
  }
}
