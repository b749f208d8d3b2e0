package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.queue.JobView;
import java.util.Arrays;
import java.util.List;

/**
 * The ways a payload takes from GPU memory into the HCA: the values of the {@code path} axis, whose
 * meanings the schema of experiments has.
 *
 * <p>All of them run the same kernels; a path is a value of {@code doorbell_job.path}, a few queue
 * pair flags, and where the staging area lies.
 */
public enum TransferPath {
  PULL("pull", JobView.PATH_PULL),
  PULL_BF("pull.bf", JobView.PATH_PULL),
  PUSH_INLINE("push.inline", JobView.PATH_INLINE),
  PUSH_BF("push.bf", JobView.PATH_INLINE),
  PUSH_MEMIC("push.memic", JobView.PATH_STAGE),
  STAGED("staged", JobView.PATH_STAGE),
  PROXY("proxy", JobView.PATH_PULL);

  private final String word;
  private final int jobPath;

  TransferPath(String word, int jobPath) {
    this.word = word;
    this.jobPath = jobPath;
  }

  public String word() {
    return word;
  }

  /** The value of {@code doorbell_job.path}. */
  public int jobPath() {
    return jobPath;
  }

  /** WQEs go to the BlueFlame register, by the GPU or, on the proxy path, by the CPU. */
  public boolean blueFlame() {
    return this == PULL_BF || this == PUSH_BF || this == PUSH_MEMIC || this == PROXY;
  }

  /** It is about the BlueFlame register; the proxy's CPU only prefers it. */
  public boolean needsBlueFlame() {
    return blueFlame() && this != PROXY;
  }

  /** The payload travels inside the WQE. */
  public boolean inline() {
    return this == PUSH_INLINE || this == PUSH_BF;
  }

  public static List<String> words() {
    return Arrays.stream(values()).map(TransferPath::word).toList();
  }
}
