package dev.doorbell.core.fault;

/**
 * Whom a fault is meant for; −1 stands for all.
 *
 * @param rank of the experiment
 * @param device of the rank, in the order in which they were opened
 * @param queuePair of the device, in the order in which they were made
 */
public record FaultTarget(int rank, int device, int queuePair) {
  /** Everybody. */
  public static final FaultTarget ALL = new FaultTarget(-1, -1, -1);

  /** True when it speaks of this device, or of one of its queue pairs. */
  public boolean covers(int ofRank, int ofDevice) {
    return (rank < 0 || rank == ofRank) && (device < 0 || device == ofDevice);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    part(text, "rank", rank);
    part(text, "hca", device);
    part(text, "qp", queuePair);
    return text.isEmpty() ? "all" : text.toString();
  }

  private static void part(StringBuilder text, String name, int number) {
    if (number >= 0) {
      text.append(text.isEmpty() ? "" : ".").append(name).append(number);
    }
  }
}
