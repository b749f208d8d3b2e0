package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.queue.JobView;
import java.util.Arrays;
import java.util.List;

/** How a payload gets from the sender's memory into the GPU that is the NIC. */
enum NicPath {
  /** WQE and payload are read from the sender's memory. */
  PULL("pull", JobView.PATH_PULL),
  /** The payload lies in the WQE, which is read from the sender's memory. */
  INLINE("push.inline", JobView.PATH_INLINE),
  /** The sender stores the payload to the NIC's memory; the WQE, which is read, points there. */
  STAGED("push.memic", JobView.PATH_STAGE),
  /** The sender stores payload and header to a ring in the NIC's memory; nothing is read. */
  RING("push.ring", JobView.PATH_PULL);

  private final String word;
  private final int jobPath;

  NicPath(String word, int jobPath) {
    this.word = word;
    this.jobPath = jobPath;
  }

  /** The value of {@code doorbell_job.path}; a ring has none. */
  int jobPath() {
    return jobPath;
  }

  /** Whether the sender copies the payload. */
  boolean pushes() {
    return this == STAGED || this == RING;
  }

  static List<String> words() {
    return Arrays.stream(values()).map(path -> path.word).toList();
  }

  static NicPath of(String word) {
    return Arrays.stream(values())
        .filter(path -> path.word.equals(word))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no path '" + word + "'"));
  }
}
