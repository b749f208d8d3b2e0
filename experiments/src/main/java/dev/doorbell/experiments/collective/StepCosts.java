package dev.doorbell.experiments.collective;

/**
 * What the steps of a schedule cost, in nanoseconds: LogGP's parameters, and the work of a block.
 *
 * @param post o: from a put's beginning until the thread goes on
 * @param flag what a flag behind the data adds to that
 * @param other what a message to another rank than the last one adds: its queue pair, or where its
 *     memory is, is in no cache
 * @param latency L: from there until the first byte is at the peer, and a poll sees it
 * @param perByte G: of what leaves a rank, at the port or where the HCA reads it
 * @param arrivingPerByte G: of what arrives, at the port or where the HCA writes it
 * @param turn one turn of a block's loop that copies or reduces
 * @param turnBytes bytes that a turn covers
 * @param packedTurnBytes the same of packed data
 * @param step everything else of a step: reading it, barriers of the block
 * @param await what a step that waits for a message adds: the fence behind a look at its flag
 * @param near of messages inside of a node
 */
public record StepCosts(
    double post,
    double flag,
    double other,
    double latency,
    double perByte,
    double arrivingPerByte,
    double turn,
    int turnBytes,
    int packedTurnBytes,
    double step,
    double await,
    Near near) {

  /**
   * What a message costs that a block stores into a peer's memory.
   *
   * @param post beside the copy, until the block goes on
   * @param flag what a flag behind the data adds to that: the stores have to be there before it
   * @param latency from the last store until the peer's poll sees it
   * @param perByte of a port, each direction
   */
  public record Near(double post, double flag, double latency, double perByte) {
    /** Without NVLink no message is near. */
    public static final Near NONE = new Near(0, 0, 0, 0);
  }

  double combine(long bytes, boolean packed) {
    long each = packed ? packedTurnBytes : turnBytes;
    long turns = (bytes + each - 1) / each;
    return turns * turn;
  }
}
