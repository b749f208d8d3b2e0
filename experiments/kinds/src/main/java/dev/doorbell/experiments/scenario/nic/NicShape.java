package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.queue.JobView;

/**
 * Queues and messages of a run: the settings of a point.
 *
 * @param path of the payload
 * @param size bytes of a message, a multiple of 16
 * @param producers blocks of the sender, each with a queue pair or a ring of its own
 * @param engines blocks of the NIC, a multiple of the producers
 * @param depth blocks of a send ring, and entries of its completion ring
 * @param window messages of a producer in flight, when they go by queue pairs
 * @param slots of a producer in the NIC's memory, when the sender copies
 */
record NicShape(
    NicPath path, int size, int producers, int engines, int depth, int window, int slots) {
  private static final int WARP = 32;
  private static final int UNIT = 16;

  /** Messages up to here are one warp's of the NIC; see gpu_nic.cuh. */
  private static final int ALONE = 2048;

  private static final int SHORT_THREADS = 128;

  /**
   * Limits of a machine, and how much it sends.
   *
   * @param mostThreads of a block
   * @param kernelNanos after which a kernel is stopped
   * @param deadlineNanos after which every wait on either GPU ends
   * @param fewest messages of a producer
   * @param most messages of a producer
   * @param streamBytes of all producers, between these numbers of messages
   * @param distinctBytes of the launch whose messages differ
   */
  record Scale(
      int mostThreads,
      long kernelNanos,
      long deadlineNanos,
      int fewest,
      int most,
      long streamBytes,
      long distinctBytes) {
    static final Scale EMULATED =
        new Scale(64, 20_000_000_000L, 2_000_000_000L, 8, 64, 64 << 10, 64 << 10);
    static final Scale REAL =
        new Scale(512, 10_000_000_000L, 2_000_000_000L, 128, 16_384, 512 << 20, 256 << 20);
  }

  /** This shape with one block on each side of the queue: for one message at a time. */
  NicShape single() {
    return new NicShape(path, size, 1, engines / producers, depth, window, slots);
  }

  int senderThreads(Scale scale) {
    return path.pushes() ? copying(scale) : WARP;
  }

  int engineThreads(Scale scale) {
    int few = Math.min(scale.mostThreads, SHORT_THREADS);
    return size <= ALONE ? few : Math.max(few, copying(scale));
  }

  private int copying(Scale scale) {
    int threads = (size / UNIT + WARP - 1) / WARP * WARP;
    return Math.clamp(threads, WARP, scale.mostThreads);
  }

  /** Ways of a payload from the sender's memory into the GPU that is the NIC. */
  enum NicPath {
    /** WQE and payload are read from the sender's memory. */
    PULL(JobView.PATH_PULL),
    /** The payload lies in the WQE, which is read from the sender's memory. */
    PUSH_INLINE(JobView.PATH_INLINE),
    /** The sender stores the payload to the NIC's memory; the WQE, which is read, points there. */
    PUSH_MEMIC(JobView.PATH_STAGE),
    /** The sender stores payload and header to a ring in the NIC's memory; nothing is read. */
    PUSH_RING(JobView.PATH_PULL);

    private final int jobPath;

    NicPath(int jobPath) {
      this.jobPath = jobPath;
    }

    int jobPath() {
      return jobPath;
    }

    boolean pushes() {
      return this == PUSH_MEMIC || this == PUSH_RING;
    }
  }
}
