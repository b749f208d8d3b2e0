package dev.doorbell.softhca.device;

/**
 * What the stages of the HCA cost, in nanoseconds of virtual time. Each is a latency: stages of
 * different work requests overlap. Under a fabric without virtual time they cost nothing.
 *
 * @param doorbellNanos from a doorbell's arrival to the WQE fetch; not charged when the WQE came
 *     with the doorbell (BlueFlame)
 * @param wqeNanos from holding a WQE to reading its payload: parsing, queue pair context, keys
 * @param packetNanos from holding a packet's payload to putting it on the wire
 * @param receiveNanos from a packet's arrival to its effect at the receiver
 */
public record HcaTiming(long doorbellNanos, long wqeNanos, long packetNanos, long receiveNanos) {

  /** Everything at once. */
  public static final HcaTiming ZERO = new HcaTiming(0, 0, 0, 0);

  /** Stages of the requester; the receiver's costs nothing. */
  public HcaTiming(long doorbellNanos, long wqeNanos, long packetNanos) {
    this(doorbellNanos, wqeNanos, packetNanos, 0);
  }

  public HcaTiming {
    if (doorbellNanos < 0 || wqeNanos < 0 || packetNanos < 0 || receiveNanos < 0) {
      throw new IllegalArgumentException(
          "a stage cannot take negative time: doorbell %d ns, WQE %d ns, packet %d ns, receive %d ns"
              .formatted(doorbellNanos, wqeNanos, packetNanos, receiveNanos));
    }
  }
}
