package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.queue.JobView;

/**
 * Queues, messages and threads of a run.
 *
 * @param path of the payload
 * @param bytes of a message, a multiple of 16
 * @param producers blocks of the sender, each with a queue pair or a ring of its own
 * @param engines blocks of the NIC, a multiple of the producers
 * @param depth blocks of a send ring, and entries of its completion ring
 * @param window messages of a producer in flight, when they go by queue pairs
 * @param slots of a producer in the NIC's memory, when the sender copies
 * @param mostThreads of a block
 * @param deadlineNanos after which every wait on either GPU ends
 * @param kernelNanos after which a kernel is stopped
 */
record NicShape(
    NicPath path,
    int bytes,
    int producers,
    int engines,
    int depth,
    int window,
    int slots,
    int mostThreads,
    long deadlineNanos,
    long kernelNanos) {
  private static final int WARP = 32;
  private static final int UNIT = 16;

  /** Messages up to here are one warp's of the NIC; see gpu_nic.cuh. */
  private static final int ALONE = 2048;

  private static final int SHORT_THREADS = 128;

  /** This shape with one block on each side of the queue: for one message at a time. */
  NicShape single() {
    return new NicShape(
        path,
        bytes,
        1,
        engines / producers,
        depth,
        window,
        slots,
        mostThreads,
        deadlineNanos,
        kernelNanos);
  }

  int senderThreads() {
    return path.pushes() ? copying() : WARP;
  }

  int engineThreads() {
    return bytes <= ALONE
        ? Math.min(mostThreads, SHORT_THREADS)
        : Math.max(Math.min(mostThreads, SHORT_THREADS), copying());
  }

  private int copying() {
    int threads = (bytes / UNIT + WARP - 1) / WARP * WARP;
    return Math.clamp(threads, WARP, mostThreads);
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
