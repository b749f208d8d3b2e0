package dev.doorbell.experiments.fuzz.growth;

/** Counts methods and branches that were executed; {@link StepCounting} makes classes call it. */
public final class Steps {
  private static long count;

  private Steps() {}

  /** A method begins, or a branch is reached. Threads other than the reader's do not matter. */
  public static void step() {
    count++;
  }

  /** Returns how many there were. */
  public static long count() {
    return count;
  }
}
