package dev.doorbell.softhca.congestion;

/** Creates the congestion control of each queue pair of an HCA. */
@FunctionalInterface
public interface CongestionPolicy {
  /**
   * The control of a queue pair that becomes ready to send.
   *
   * @param mtu path MTU in bytes
   */
  CongestionControl begin(int mtu);
}
