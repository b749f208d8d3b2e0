package dev.doorbell.core.gpu;

import java.util.stream.IntStream;

/**
 * The shape of a launch.
 *
 * @param dynamicSharedBytes bytes of {@code extern .shared} memory
 * @param cooperative every block must be resident at once, or the launch is refused
 * @param timeoutNanos how long the kernel may run, on the fabric's clock, before it is stopped and
 *     reported with what its threads wait for
 */
public record LaunchConfig(
    int gridX,
    int gridY,
    int gridZ,
    int blockX,
    int blockY,
    int blockZ,
    int dynamicSharedBytes,
    boolean cooperative,
    long timeoutNanos) {

  /** Ten seconds. */
  public static final long DEFAULT_TIMEOUT_NANOS = 10_000_000_000L;

  private static final int MAX_GRID_YZ = 65_535;

  /** A one-dimensional launch with the default timeout. */
  public static LaunchConfig of(int blocks, int threads) {
    return new LaunchConfig(blocks, 1, 1, threads, 1, 1, 0, false, DEFAULT_TIMEOUT_NANOS);
  }

  /** The same with another timeout. */
  public LaunchConfig withTimeout(long nanos) {
    return new LaunchConfig(
        gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicSharedBytes, cooperative, nanos);
  }

  /** The same with dynamic shared memory. */
  public LaunchConfig withSharedBytes(int bytes) {
    return new LaunchConfig(
        gridX, gridY, gridZ, blockX, blockY, blockZ, bytes, cooperative, timeoutNanos);
  }

  /** The same, cooperative. */
  public LaunchConfig asCooperative() {
    return new LaunchConfig(
        gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicSharedBytes, true, timeoutNanos);
  }

  /**
   * Refuses what no GPU launches.
   *
   * @param kernel its name
   * @param mostThreads of a block
   * @param sharedBytes of the kernel itself
   * @param mostShared bytes of shared memory of a block
   * @throws GpuException naming the limit that is exceeded
   */
  public void requirePossible(String kernel, int mostThreads, long sharedBytes, long mostShared) {
    if (IntStream.of(gridX, gridY, gridZ, blockX, blockY, blockZ).anyMatch(size -> size < 1)) {
      throw impossible(kernel, "every side of grid and block must be at least 1");
    }
    long threads = (long) blockX * blockY * blockZ;
    if (threads > mostThreads || blockX > mostThreads || blockY > mostThreads) {
      throw impossible(kernel, "%d threads a block, at most %d".formatted(threads, mostThreads));
    }
    if (gridY > MAX_GRID_YZ || gridZ > MAX_GRID_YZ) {
      throw impossible(kernel, "grid y and z are at most %d".formatted(MAX_GRID_YZ));
    }
    long shared = sharedBytes + dynamicSharedBytes;
    if (dynamicSharedBytes < 0 || shared > mostShared) {
      throw impossible(
          kernel, "%d bytes of shared memory a block, at most %d".formatted(shared, mostShared));
    }
  }

  public static GpuException impossible(String kernel, String why) {
    return new GpuException("kernel %s cannot be launched: %s".formatted(kernel, why));
  }

  public int threadsPerBlock() {
    return blockX * blockY * blockZ;
  }

  public int blocks() {
    return gridX * gridY * gridZ;
  }
}
