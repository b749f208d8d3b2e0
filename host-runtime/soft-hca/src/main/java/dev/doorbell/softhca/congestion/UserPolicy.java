package dev.doorbell.softhca.congestion;

/**
 * A congestion control of a user's own, which experiments find as a service: a class that is named
 * in {@code META-INF/services} of a jar or folder of the class path (docs/congestion.md).
 */
public interface UserPolicy {
  /** Name in reports. */
  String name();

  /**
   * Creates the policy of one HCA.
   *
   * @param lineBytesPerNano rate of its port, in bytes of frames
   * @param roundTripNanos of a full packet on the longest way through an idle network
   */
  CongestionPolicy policy(double lineBytesPerNano, long roundTripNanos);
}
