package dev.doorbell.experiments.workbench.explore;

/**
 * Progress of threads that a clean kernel relies on without a promise.
 *
 * @param failure of the run without that progress
 */
public record Reliance(Kind kind, Failure failure) {
  /** What the kernel relies on. */
  public enum Kind {
    /** Its blocks run at the same time. */
    BLOCKS_TOGETHER(
        "with one block after the other",
        "blocks run at the same time in cooperative launches alone"),
    /** Its blocks begin in the order of their numbers. */
    BLOCK_ORDER(
        "with one block after the other, the last one first",
        "no order of blocks is promised, and hardware begins with the first"),
    /** The lanes of a warp go on apart from each other. */
    LANES_APART(
        "while one lane of a warp keeps the others from going on",
        "each thread of a block goes on from sm_70 on, not before");

    private final String when;
    private final String promise;

    Kind(String when, String promise) {
      this.when = when;
      this.promise = promise;
    }

    /** Returns when it fails. */
    public String when() {
      return when;
    }

    /** Returns what is promised. */
    public String promise() {
      return promise;
    }
  }
}
