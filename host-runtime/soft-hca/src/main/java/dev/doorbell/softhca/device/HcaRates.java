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
 */
public record HcaRates(
    double wqeNanos,
    double queueNanos,
    double packetNanos,
    int connections,
    double missNanos,
    int fetches) {

  /** No limit. */
  public static final HcaRates UNLIMITED = new HcaRates(0, 0, 0, 0, 0, 1);

  public HcaRates {
    if (!(wqeNanos >= 0)
        || !(queueNanos >= 0)
        || !(packetNanos >= 0)
        || connections < 0
        || !(missNanos >= 0)
        || fetches < 1) {
      throw new IllegalArgumentException("a rate's interval cannot be negative");
    }
  }

  boolean limitsArrivals() {
    return packetNanos != 0 || (connections != 0 && missNanos != 0);
  }
}
