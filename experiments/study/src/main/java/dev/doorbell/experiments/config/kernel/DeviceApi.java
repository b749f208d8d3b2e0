package dev.doorbell.experiments.config.kernel;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A device API other than Doorbell's own whose code a kernel is made of: the values of {@code api}
 * in a descriptor. The library is the user's; Doorbell lays its structures over queue pairs.
 */
public enum DeviceApi {
  /** DOCA GPUNetIO verbs: an array of {@code doca_gpu_dev_verbs_qp}. */
  GPUNETIO(false, false),
  /** NCCL's GIN, back end GDAKI: an array of {@code ncclGinGdakiGPUContext}. */
  GIN(false, false),
  /** NCCL's GIN, back end Proxy: an array of {@code ncclGinProxyGpuCtx_t}; the CPU posts. */
  GIN_PROXY(true, false),
  /** NVSHMEM's IBGDA transport: the state is in variables of the module. */
  NVSHMEM(true, true, "-rdc=true");

  private final boolean recordFirst;
  private final boolean collapsed;
  private final String compilerFlags;

  DeviceApi(boolean recordFirst, boolean collapsed, String... compilerFlags) {
    this.recordFirst = recordFirst;
    this.collapsed = collapsed;
    this.compilerFlags = String.join(" ", compilerFlags);
  }

  /** Returns whether its completion queues have one entry, always overwritten. */
  public boolean collapsed() {
    return collapsed;
  }

  /** Returns whether its doorbells promise that the doorbell record is written already. */
  public boolean recordFirst() {
    return recordFirst;
  }

  /** Returns whether kernels name the memory of all ranks by the addresses of their own. */
  public boolean symmetric() {
    return this == NVSHMEM;
  }

  /** Options of nvcc without which its headers do not compile. */
  public List<String> compilerFlags() {
    return compilerFlags.isEmpty() ? List.of() : List.of(compilerFlags.split(" ", -1));
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
