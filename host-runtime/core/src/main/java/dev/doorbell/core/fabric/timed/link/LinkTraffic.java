package dev.doorbell.core.fabric.timed.link;

/**
 * What crossed one direction of one link.
 *
 * @param link rank, link and direction, for example {@code rank0.slot1:nic0>switch0}
 * @param tlps transaction layer packets
 * @param wireBytes their bytes on the wire, framing and headers included
 * @param payloadBytes their payload
 */
public record LinkTraffic(String link, long tlps, long wireBytes, long payloadBytes) {
  /** What crossed it after {@code earlier} was read. */
  public LinkTraffic minus(LinkTraffic earlier) {
    return new LinkTraffic(
        link,
        tlps - earlier.tlps,
        wireBytes - earlier.wireBytes,
        payloadBytes - earlier.payloadBytes);
  }
}
