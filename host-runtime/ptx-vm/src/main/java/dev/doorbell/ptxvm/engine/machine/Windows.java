package dev.doorbell.ptxvm.engine.machine;

/**
 * The native ranges of one resident block: shared memory first, then each thread's local memory.
 *
 * @param base first byte, where shared memory begins
 * @param sharedBytes of static and dynamic shared memory
 * @param localBytes of one thread
 * @param localOffset from base to the local memory of thread 0
 * @param bytes of everything
 */
public record Windows(long base, long sharedBytes, long localBytes, long localOffset, long bytes) {
  /** Shared memory that the system keeps for itself and for cooperative groups, at offset 0. */
  public static final int RESERVED_BYTES = 1024;

  private static final int ALIGN = 256;

  static Windows of(long base, long sharedBytes, long localBytes, int threads) {
    long shared = up(sharedBytes);
    long local = up(localBytes);
    return new Windows(base, sharedBytes, local, shared, shared + local * threads);
  }

  Windows at(long address) {
    return new Windows(address, sharedBytes, localBytes, localOffset, bytes);
  }

  long shared() {
    return base;
  }

  long local(int thread) {
    return base + localOffset + thread * localBytes;
  }

  private static long up(long bytes) {
    return (bytes + ALIGN - 1) & -ALIGN;
  }
}
