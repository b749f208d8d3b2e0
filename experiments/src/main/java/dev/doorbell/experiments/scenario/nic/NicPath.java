package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.queue.JobView;

/** How a payload gets from the sender's memory into the GPU that is the NIC. */
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

  /** The value of {@code doorbell_job.path}; a ring has none. */
  int jobPath() {
    return jobPath;
  }

  /** Whether the sender copies the payload. */
  boolean pushes() {
    return this == PUSH_MEMIC || this == PUSH_RING;
  }
}
