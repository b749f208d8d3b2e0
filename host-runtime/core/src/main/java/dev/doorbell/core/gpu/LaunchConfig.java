package dev.doorbell.core.gpu;

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

  /** Threads of a block. */
  public int threadsPerBlock() {
    return blockX * blockY * blockZ;
  }

  /** Blocks of the grid. */
  public int blocks() {
    return gridX * gridY * gridZ;
  }
}
