package dev.doorbell.doctor.facts;

import java.util.Map;
import java.util.Optional;

/**
 * NVIDIA's kernel driver as it presents itself below {@code /proc/driver/nvidia}.
 *
 * @param version empty when the driver is not loaded
 * @param open whether the open kernel modules are loaded
 * @param parameters of the module, by name
 * @param controlNode whether {@code /dev/nvidiactl} is there for this process
 * @param library version of the newest {@code libcuda.so} found, empty where there is none
 */
public record NvidiaDriver(
    Optional<String> version,
    boolean open,
    Map<String, String> parameters,
    boolean controlNode,
    Optional<String> library) {

  public NvidiaDriver {
    parameters = Map.copyOf(parameters);
  }

  public boolean loaded() {
    return version.isPresent();
  }
}
