package dev.doorbell.softhca.device;

/**
 * How fast an HCA takes in work, in nanoseconds of virtual time. One engine serves the WQEs of all
 * queue pairs and the request packets that arrive; 0 means without limit.
 *
 * @param wqeNanos of the engine for a WQE: the HCA's ceiling
 * @param queueNanos between two WQEs of one queue pair: the queue pair's ceiling
 * @param packetNanos of the engine for a request packet that arrives
 * @param connections queue pairs whose state the HCA holds; 0: all
 * @param missNanos from the start of a fetch until the state of a queue pair is there, which a
 *     request packet waits for. A requester fetches the state ahead, with the WQE
 * @param fetches of states that are under way together: those of so many packets at the head of
 *     what has arrived
 * @param transmitBytes of memory for payload from the begin of its gather until the wire has taken
 *     it, which queue pairs use in turns; 0: no limit
 * @param fetchBytes of WQEs that are being fetched for all queue pairs, likewise
 */
public record HcaRates(
    double wqeNanos,
    double queueNanos,
    double packetNanos,
    int connections,
    double missNanos,
    int fetches,
    int transmitBytes,
    int fetchBytes) {

  /** No limit. */
  public static final HcaRates UNLIMITED = new HcaRates(0, 0, 0, 0, 0, 1, 0, 0);

  public HcaRates {
    if (!(wqeNanos >= 0)
        || !(queueNanos >= 0)
        || !(packetNanos >= 0)
        || connections < 0
        || !(missNanos >= 0)
        || fetches < 1) {
      throw new IllegalArgumentException("a rate's interval cannot be negative");
    }
    if (isTooSmall(transmitBytes) || isTooSmall(fetchBytes)) {
      throw new IllegalArgumentException(
          "buffers of %d and %d bytes: each is 0 or holds a packet of %d"
              .formatted(transmitBytes, fetchBytes, SharedBuffer.QUANTUM));
    }
  }

  private static boolean isTooSmall(int bytes) {
    return bytes != 0 && bytes < SharedBuffer.QUANTUM;
  }

  boolean limitsArrivals() {
    return packetNanos != 0 || (connections != 0 && missNanos != 0);
  }
}
