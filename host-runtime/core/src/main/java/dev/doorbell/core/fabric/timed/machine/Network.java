package dev.doorbell.core.fabric.timed.machine;

/**
 * The network that joins the HCAs of different ranks.
 *
 * @param nanos one-way latency between two ports
 * @param bytesPerNano rate of a port, each direction
 * @param packetOverhead bytes that a packet adds to its payload on the wire
 * @param framing bytes around a packet's transport headers and payload
 */
public record Network(double nanos, double bytesPerNano, int packetOverhead, Framing framing) {

  /** The network of a node that stands alone: whatever crosses it takes no time. */
  public static final Network NONE = new Network(0, Double.MAX_VALUE, 0, Framing.ETHERNET);

  /** The bytes that the link layer puts around a packet. */
  public enum Framing {
    /** RoCEv2 over IPv4, from the preamble to the gap between frames. */
    ETHERNET(70),
    /** LRH 8, ICRC 4, VCRC 2; one symbol each begins (SDP) and ends (EGP) a packet. */
    INFINIBAND(16);

    private final int bytes;

    Framing(int bytes) {
      this.bytes = bytes;
    }

    /** Bytes that a RoCEv2 frame has and a packet of this link layer has not. */
    public int lessThanEthernet() {
      return ETHERNET.bytes - bytes;
    }
  }
}
