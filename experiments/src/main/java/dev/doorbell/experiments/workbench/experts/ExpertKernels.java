package dev.doorbell.experiments.workbench.experts;

/** Which of DeepEP's kernels an exchange is made by. */
public enum ExpertKernels {
  /** Dispatch and combine of {@code internode_ll.cu}. */
  LOW_LATENCY("low-latency"),
  /** Layout, notify, dispatch, combine and their cached forms of {@code intranode.cu}. */
  INTRANODE("intranode"),
  /** Layout, notify and cached notify of {@code internode.cu}, among nodes of 8 ranks. */
  INTERNODE("internode");

  private final String word;

  ExpertKernels(String word) {
    this.word = word;
  }

  /** Its word on the command line. */
  @Override
  public String toString() {
    return word;
  }
}
