package dev.doorbell.core.hca;

/**
 * A connection's attributes, with the encodings of {@code ibv_qp_attr}. Datagram queue pairs use
 * the last three.
 *
 * @param ackTimeout exponent t: 4.096 us times 2^t; 0 means none
 * @param retryCount retransmissions before the peer counts as silent, 0 to 7
 * @param rnrRetry retries after RNR NAKs, 7 means without end
 * @param minRnrTimer code of the RNR timer this side asks for, 0 to 31
 * @param maxReadAtomic READs and atomics outstanding as requester
 * @param maxDestReadAtomic READs and atomics whose answers are kept for duplicates as responder
 * @param trafficClass traffic class of outgoing packets
 * @param partitionKey P_Key of both ends, 16 bits: 15 must agree, and bit 15, full membership, must
 *     be set at one end at least
 * @param queueKey Q_Key that datagrams to this queue pair have to bring
 */
public record ConnectionAttributes(
    int ackTimeout,
    int retryCount,
    int rnrRetry,
    int minRnrTimer,
    int maxReadAtomic,
    int maxDestReadAtomic,
    int trafficClass,
    int partitionKey,
    int queueKey) {

  /** The P_Key of everybody. */
  public static final int DEFAULT_PARTITION = 0xffff;

  /** The values of GPU-initiated libraries. */
  public static final ConnectionAttributes DEFAULT =
      new ConnectionAttributes(20, 7, 7, 12, 16, 16, 0);

  /** In the partition of everybody. */
  public ConnectionAttributes(
      int ackTimeout,
      int retryCount,
      int rnrRetry,
      int minRnrTimer,
      int maxReadAtomic,
      int maxDestReadAtomic,
      int trafficClass) {
    this(
        ackTimeout,
        retryCount,
        rnrRetry,
        minRnrTimer,
        maxReadAtomic,
        maxDestReadAtomic,
        trafficClass,
        DEFAULT_PARTITION,
        0);
  }

  /** Returns a copy in another partition. */
  public ConnectionAttributes withPartitionKey(int key) {
    return with(trafficClass, key, queueKey);
  }

  /** Returns a copy with another traffic class. */
  public ConnectionAttributes withTrafficClass(int other) {
    return with(other, partitionKey, queueKey);
  }

  /** Returns a copy with another Q_Key. */
  public ConnectionAttributes withQueueKey(int key) {
    return with(trafficClass, partitionKey, key);
  }

  private ConnectionAttributes with(int traffic, int partition, int key) {
    return new ConnectionAttributes(
        ackTimeout,
        retryCount,
        rnrRetry,
        minRnrTimer,
        maxReadAtomic,
        maxDestReadAtomic,
        traffic,
        partition,
        key);
  }
}
