package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.NicPrices.NicRefinements;

/**
 * Costs of the HCA's stages, in nanoseconds of virtual time. Each is a latency: stages of different
 * work requests overlap, as far as {@link HcaRates} allow. Under a fabric without virtual time they
 * cost nothing.
 *
 * @param doorbellNanos from a doorbell's arrival to the WQE fetch; not charged when the WQE came
 *     with the doorbell (BlueFlame)
 * @param wqeNanos from holding a WQE to reading its payload: parsing, queue pair context, keys
 * @param packetNanos from holding a packet's payload to putting it on the wire
 * @param receiveNanos from a request packet's arrival to its effect at the responder
 * @param acknowledgeNanos from a response packet's arrival to its effect at the requester
 * @param rates how fast the stages take in work
 */
public record HcaTiming(
    long doorbellNanos,
    long wqeNanos,
    long packetNanos,
    long receiveNanos,
    long acknowledgeNanos,
    HcaRates rates) {

  /** Everything at once. */
  public static final HcaTiming ZERO = new HcaTiming(0, 0, 0);

  /** Stages of the requester; the responder's cost nothing, and nothing limits a rate. */
  public HcaTiming(long doorbellNanos, long wqeNanos, long packetNanos) {
    this(doorbellNanos, wqeNanos, packetNanos, 0, 0, HcaRates.UNLIMITED);
  }

  public HcaTiming {
    if (doorbellNanos < 0
        || wqeNanos < 0
        || packetNanos < 0
        || receiveNanos < 0
        || acknowledgeNanos < 0) {
      throw new IllegalArgumentException(
          "a stage cannot take negative time: doorbell %d ns, WQE %d ns, packet %d ns, receive %d ns, acknowledge %d ns"
              .formatted(doorbellNanos, wqeNanos, packetNanos, receiveNanos, acknowledgeNanos));
    }
  }

  /** True when every stage costs nothing, and nothing limits a rate. */
  @SuppressWarnings("ReferenceEquality") // records compare their components slowly the first time
  public boolean isZero() {
    return this == ZERO || equals(ZERO);
  }

  /** The stages of an HCA of a topology. */
  public static HcaTiming of(NicPrices nic) {
    NicRefinements finer = nic.finer();
    return new HcaTiming(
        Math.round(nic.doorbell()),
        Math.round(nic.wqe()),
        Math.round(nic.packet()),
        Math.round(finer.receive()),
        Math.round(finer.acknowledge()),
        new HcaRates(
            finer.wqeInterval(),
            finer.queueInterval(),
            finer.packetInterval(),
            finer.connections(),
            finer.connectionMiss(),
            finer.connectionFetches(),
            finer.transmitBytes(),
            finer.fetchBytes()));
  }

  /**
   * WQEs of one queue pair that are parsed at the same time: no more than keep up its ceiling.
   *
   * @param depth limit in any case
   */
  public int mostParsing(int depth) {
    return rates.queueNanos() == 0
        ? depth
        : (int) Math.min(depth, 2 + Math.ceil(wqeNanos / rates.queueNanos()));
  }

  /** The same stages without a limit to rates. */
  public HcaTiming unlimited() {
    return new HcaTiming(
        doorbellNanos, wqeNanos, packetNanos, receiveNanos, acknowledgeNanos, HcaRates.UNLIMITED);
  }

  /** Returns true if packets take time between their arrival and their effect. */
  public boolean delaysArrivals() {
    return receiveNanos != 0 || acknowledgeNanos != 0 || rates.limitsArrivals();
  }

  /**
   * Rates at which an HCA takes in work, in nanoseconds of virtual time. One engine serves the WQEs
   * of all queue pairs and the request packets that arrive; 0 means without limit.
   *
   * @param wqeNanos of the engine for a WQE: the HCA's ceiling
   * @param queueNanos between two WQEs of one queue pair: the queue pair's ceiling
   * @param packetNanos of the engine for a request packet that arrives
   * @param connections queue pairs whose state the HCA holds; 0: all
   * @param missNanos from the start of a fetch until the state of a queue pair is there, which a
   *     request packet waits for. A requester fetches the state ahead, with the WQE
   * @param fetches of states that are under way together: those of so many packets at the head of
   *     what has arrived
   * @param transmitBytes of memory for payload from the begin of its gather until the wire has
   *     taken it, which queue pairs use in turns; 0: no limit
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
}
