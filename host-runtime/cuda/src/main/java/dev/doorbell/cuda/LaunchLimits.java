package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuAttributes;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.cuda.CudaModule.CudaKernel;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.JCudaDriver;

/** The limits of a launch, checked here because the driver only reports "invalid value". */
final class LaunchLimits {
  private static final int MAX_GRID_YZ = 65_535;

  /** More dynamic shared memory than this must be enabled for a kernel. */
  private static final int DEFAULT_SHARED_LIMIT = 48 << 10;

  private final CudaContext context;
  private final GpuAttributes attributes;

  LaunchLimits(CudaContext context, GpuAttributes attributes) {
    this.context = context;
    this.attributes = attributes;
  }

  /**
   * Prepares the kernel for the launch.
   *
   * @throws GpuException naming the limit that it exceeds
   */
  void require(CudaKernel kernel, LaunchConfig config) {
    int[] sizes = {
      config.gridX(), config.gridY(), config.gridZ(),
      config.blockX(), config.blockY(), config.blockZ()
    };
    for (int size : sizes) {
      if (size < 1) {
        throw impossible(kernel, "every side of grid and block must be at least 1");
      }
    }
    long threads = (long) config.blockX() * config.blockY() * config.blockZ();
    int most = attributes.maxThreadsPerBlock();
    if (threads > most || config.blockX() > most || config.blockY() > most) {
      throw impossible(kernel, "%d threads a block, at most %d".formatted(threads, most));
    }
    if (config.gridY() > MAX_GRID_YZ || config.gridZ() > MAX_GRID_YZ) {
      throw impossible(kernel, "grid y and z are at most %d".formatted(MAX_GRID_YZ));
    }
    long shared = (long) kernel.sharedBytes() + config.dynamicSharedBytes();
    if (config.dynamicSharedBytes() < 0 || shared > attributes.sharedBytesPerBlock()) {
      throw impossible(
          kernel,
          "%d bytes of shared memory a block, at most %d"
              .formatted(shared, attributes.sharedBytesPerBlock()));
    }
    if (config.dynamicSharedBytes() > DEFAULT_SHARED_LIMIT) {
      context.call(
          "allowing kernel %s %d bytes of shared memory"
              .formatted(kernel.name(), config.dynamicSharedBytes()),
          () ->
              JCudaDriver.cuFuncSetAttribute(
                  kernel.function(),
                  CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  config.dynamicSharedBytes()));
    }
    if (config.cooperative()) {
      requireResident(kernel, config, (int) threads);
    }
  }

  private void requireResident(CudaKernel kernel, LaunchConfig config, int threads) {
    int[] perProcessor = new int[1];
    context.call(
        "querying how many blocks of kernel %s run at once".formatted(kernel.name()),
        () ->
            JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                perProcessor, kernel.function(), threads, config.dynamicSharedBytes()));
    long blocks = (long) config.gridX() * config.gridY() * config.gridZ();
    long resident = (long) perProcessor[0] * attributes.multiprocessors();
    if (blocks > resident) {
      throw impossible(
          kernel,
          "a cooperative launch of %d blocks, at most %d run at once".formatted(blocks, resident));
    }
  }

  private static GpuException impossible(CudaKernel kernel, String why) {
    return new GpuException("kernel %s cannot be launched: %s".formatted(kernel.name(), why));
  }
}
