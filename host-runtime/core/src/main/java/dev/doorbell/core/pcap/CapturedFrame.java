package dev.doorbell.core.pcap;

/**
 * One frame of a capture.
 *
 * @param number from 1, as Wireshark counts
 * @param nanos since the epoch of the capture's clock: 1970, or 0 of virtual time
 * @param linkType see {@link LinkType}
 * @param direction which way it went
 * @param bytes what was captured; not to be changed
 * @param originalBytes how long the frame was on the wire; more than were captured when it was cut
 * @param comment what its maker wrote about it, or empty
 */
@SuppressWarnings("ArrayRecordComponent") // frames are looked at, never compared
public record CapturedFrame(
    int number,
    long nanos,
    int linkType,
    Direction direction,
    byte[] bytes,
    int originalBytes,
    String comment) {

  /** True when the capture holds only the start of the frame. */
  public boolean isCut() {
    return bytes.length < originalBytes;
  }
}
