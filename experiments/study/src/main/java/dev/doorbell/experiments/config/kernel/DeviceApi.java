package dev.doorbell.experiments.config.kernel;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A device API other than Doorbell's own whose code a kernel is made of: the values of {@code api}
 * in a descriptor. The library is the user's; Doorbell lays its structures over queue pairs whose
 * completion queues have one entry, and kernels name the memory of all ranks by the addresses of
 * their own.
 */
public enum DeviceApi {
  /** NVSHMEM's IBGDA transport: the state is in variables of the module. */
  NVSHMEM("-rdc=true");

  private final String compilerFlags;

  DeviceApi(String... compilerFlags) {
    this.compilerFlags = String.join(" ", compilerFlags);
  }

  /** Options of nvcc without which its headers do not compile. */
  public List<String> compilerFlags() {
    return List.of(compilerFlags.split(" ", -1));
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static DeviceApi of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  public static List<String> words() {
    return Arrays.stream(values()).map(DeviceApi::word).toList();
  }
}
