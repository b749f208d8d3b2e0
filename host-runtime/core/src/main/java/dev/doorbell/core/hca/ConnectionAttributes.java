package dev.doorbell.core.hca;

/**
 * The reliable connection's attributes, with the encodings of {@code ibv_qp_attr}.
 *
 * @param ackTimeout exponent t: 4.096 us times 2^t; 0 means none
 * @param retryCount retransmissions before the peer counts as silent, 0 to 7
 * @param rnrRetry retries after RNR NAKs, 7 means without end
 * @param minRnrTimer code of the RNR timer this side asks for, 0 to 31
 * @param maxReadAtomic READs and atomics outstanding as requester
 * @param maxDestReadAtomic READs and atomics served at once as responder
 * @param trafficClass traffic class of outgoing packets
 */
public record ConnectionAttributes(
    int ackTimeout,
    int retryCount,
    int rnrRetry,
    int minRnrTimer,
    int maxReadAtomic,
    int maxDestReadAtomic,
    int trafficClass) {

  /** What GPU-initiated libraries use. */
  public static final ConnectionAttributes DEFAULT =
      new ConnectionAttributes(20, 7, 7, 12, 16, 16, 0);
}
