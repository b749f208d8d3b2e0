package dev.doorbell.verbs.prm;

/** QUERY_HCA_CAP: what the device can do now. */
public final class Capabilities {
  private static final int QUERY = 0x100;
  private static final int BYTES = 16;
  private static final int CAPABILITY = 0x10;
  private static final int CURRENT = 1;

  /** Bytes of the answer. */
  public static final int ANSWER_BYTES = CAPABILITY + 4096;

  private final PrmBuffer answer;

  /**
   * Reads an answer.
   *
   * @param answer of {@link #query}
   */
  public Capabilities(PrmBuffer answer) {
    this.answer = answer;
  }

  /** The command for the general capabilities. */
  public static PrmBuffer query() {
    return PrmBuffer.command(BYTES, QUERY).put(0x4, 15, 0, CURRENT);
  }

  /** log2 of the largest queue in WQEs; 0 where the device does not say. */
  public int logLargestQueue() {
    return answer.get(CAPABILITY + 0x10, 23, 16);
  }

  /** log2 of how many queue pairs. */
  public int logQueuePairs() {
    return answer.get(CAPABILITY + 0x10, 4, 0);
  }

  /** log2 of the largest completion queue. */
  public int logLargestCompletionQueue() {
    return answer.get(CAPABILITY + 0x18, 23, 16);
  }

  /** Bytes of one half of a BlueFlame register, which has two; 0 where there is none. */
  public int blueFlameBytes() {
    boolean has = answer.get(CAPABILITY + 0x4c, 31, 31) != 0;
    int log = answer.get(CAPABILITY + 0x4c, 20, 16);
    return has && log > 0 ? 1 << log - 1 : 0;
  }
}
