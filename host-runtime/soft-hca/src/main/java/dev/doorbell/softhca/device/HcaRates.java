package dev.doorbell.softhca.device;

/**
 * How fast an HCA takes in work, in nanoseconds of virtual time. One engine serves the WQEs of all
 * queue pairs and the request packets that arrive; 0 means without limit.
 *
 * @param wqeNanos of the engine for a WQE: the HCA's ceiling
 * @param queueNanos between two WQEs of one queue pair: the queue pair's ceiling
 * @param packetNanos of the engine for a request packet that arrives
 * @param connections queue pairs whose state the HCA holds; 0: all
 * @param missNanos of the engine when a request packet arrives for a queue pair whose state it does
 *     not hold. A requester fetches the state ahead, with the WQE
 */
public record HcaRates(
    double wqeNanos, double queueNanos, double packetNanos, int connections, double missNanos) {

  /** No limit. */
  public static final HcaRates UNLIMITED = new HcaRates(0, 0, 0, 0, 0);

  public HcaRates {
    if (!(wqeNanos >= 0)
        || !(queueNanos >= 0)
        || !(packetNanos >= 0)
        || connections < 0
        || !(missNanos >= 0)) {
      throw new IllegalArgumentException("a rate's interval cannot be negative");
    }
  }

  boolean limitsArrivals() {
    return packetNanos != 0 || (connections != 0 && missNanos != 0);
  }
}
