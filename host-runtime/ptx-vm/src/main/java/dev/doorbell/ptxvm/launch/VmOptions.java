package dev.doorbell.ptxvm.launch;

/**
 * What the virtual GPU is like. {@link #defaults} suits most; the others narrow one thing each.
 *
 * @param computeCapability major times ten plus minor: 75, 90; higher than a file's target, or the
 *     file is refused
 * @param maxResidentBlocks blocks that run at once; more run in waves, and a cooperative launch of
 *     more is refused
 * @param multiprocessors reported by attributes and {@code %nsmid}
 * @param sharedBytesPerBlock limit of static plus dynamic shared memory
 * @param stackBytes local memory of a thread for the frames of recursive functions
 * @param pollNanos how long a fabric with virtual time may park a thread that polls memory and
 *     watches a clock
 */
public record VmOptions(
    int computeCapability,
    int maxResidentBlocks,
    int multiprocessors,
    int sharedBytesPerBlock,
    int stackBytes,
    long pollNanos) {

  public VmOptions {
    if (maxResidentBlocks < 1 || multiprocessors < 1 || stackBytes < 0 || pollNanos < 1) {
      throw new IllegalArgumentException("sizes of a GPU must be positive");
    }
  }

  /** Compute capability 9.0, 128 resident blocks. */
  public static VmOptions defaults() {
    return new VmOptions(90, 128, 16, 227 << 10, 64 << 10, 1_000_000);
  }

  /** The same with another compute capability. */
  public VmOptions withComputeCapability(int capability) {
    return new VmOptions(
        capability, maxResidentBlocks, multiprocessors, sharedBytesPerBlock, stackBytes, pollNanos);
  }

  /** The same with another number of resident blocks. */
  public VmOptions withMaxResidentBlocks(int blocks) {
    return new VmOptions(
        computeCapability, blocks, multiprocessors, sharedBytesPerBlock, stackBytes, pollNanos);
  }

  /** The same with another stack. */
  public VmOptions withStackBytes(int bytes) {
    return new VmOptions(
        computeCapability,
        maxResidentBlocks,
        multiprocessors,
        sharedBytesPerBlock,
        bytes,
        pollNanos);
  }

  /** The same with another time to park. */
  public VmOptions withPollNanos(long nanos) {
    return new VmOptions(
        computeCapability,
        maxResidentBlocks,
        multiprocessors,
        sharedBytesPerBlock,
        stackBytes,
        nanos);
  }
}
