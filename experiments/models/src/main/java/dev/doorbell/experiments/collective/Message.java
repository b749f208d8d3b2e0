package dev.doorbell.experiments.collective;

/**
 * A message of a schedule.
 *
 * @param number among the messages with a flag of its own that {@code from} sends {@code to}, from
 *     1; 0 for packed ones
 * @param offset where it arrives, in the receiver's arena
 * @param target where a packed one is to be unpacked; else {@code offset}
 * @param bytes of the data
 * @param packed whether the flag is in the data
 */
public record Message(
    int from, int to, int number, long offset, long target, long bytes, boolean packed) {
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  /** Spreads a million messages among a thousand ranks over the hash codes. */
  @Override
  public int hashCode() {
    long ends = ((long) from << Integer.SIZE) + to;
    return (int) ((((ends * SPREAD + offset) * SPREAD + number) * SPREAD) >>> Integer.SIZE);
  }
}
