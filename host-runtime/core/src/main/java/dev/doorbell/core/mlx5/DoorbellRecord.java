package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The 8 bytes of memory in which an HCA finds a queue's counters: {@code MLX5_RCV_DBR}, {@code
 * MLX5_SND_DBR}, {@code MLX5_CQ_SET_CI}, {@code MLX5_CQ_ARM_DB} of rdma-core providers/mlx5.
 * Big-endian.
 *
 * <pre>
 *   31                             16 15                            0
 *  +---------------------------------+------------------------------+
 *  |               0                 |       receive counter        |  0  queue pair
 *  +---------------------------------+------------------------------+
 *  |               0                 |        send counter          |  4
 *  +---------------------------------+------------------------------+
 *
 *   31  28 27 25  24 23                                             0
 *  +------------+---+-----------------------------------------------+
 *  |      0         |             consumer index                    |  0  completion queue
 *  +------+-----+---+-----------------------------------------------+
 *  |  sn  |  0  | S |             consumer index                    |  4
 *  +------+-----+---+-----------------------------------------------+
 * </pre>
 *
 * <p>Counters are those of the next free place: one past the last posted. A send counter counts
 * 64-byte blocks, a receive counter receive WQEs.
 */
public final class DoorbellRecord {
  public static final int BYTES = 8;

  /** Queue pair: the receive counter. */
  public static final int RECEIVE_OFFSET = 0;

  /** Queue pair: the send counter. */
  public static final int SEND_OFFSET = 4;

  /** Completion queue: the consumer index. */
  public static final int CONSUMER_OFFSET = 0;

  /** Completion queue: the arm word. */
  public static final int ARM_OFFSET = 4;

  /** The bits of a completion queue's consumer index that hardware sees. */
  public static final int CONSUMER_MASK = 0xff_ffff;

  private DoorbellRecord() {}

  /** A send or receive counter as a little-endian 32-bit store puts it into memory. */
  public static int encode(long index) {
    return BigEndian.swap((int) index & SendQueue.INDEX_MASK);
  }

  /** The inverse of {@link #encode}: 16 bits. */
  public static int decode(int stored) {
    return BigEndian.swap(stored) & SendQueue.INDEX_MASK;
  }

  /** A consumer index as a little-endian 32-bit store puts it into memory. */
  public static int encodeConsumer(long index) {
    return BigEndian.swap((int) index & CONSUMER_MASK);
  }

  /** The inverse of {@link #encodeConsumer}: 24 bits. */
  public static int decodeConsumer(int stored) {
    return BigEndian.swap(stored) & CONSUMER_MASK;
  }

  /**
   * Reads the send counter with acquire semantics: WQEs written before it are visible after it.
   *
   * @param record native address of the record
   */
  public static int sendIndex(long record) {
    return decode(RawMemory.getIntAcquire(record + SEND_OFFSET));
  }

  /** Reads the receive counter with acquire semantics. */
  public static int receiveIndex(long record) {
    return decode(RawMemory.getIntAcquire(record + RECEIVE_OFFSET));
  }

  /** Reads the consumer index with acquire semantics. */
  public static int consumerIndex(long record) {
    return decodeConsumer(RawMemory.getIntAcquire(record + CONSUMER_OFFSET));
  }

  /** Writes the send counter with release semantics: WQEs written before are visible with it. */
  public static void putSendIndex(long record, long index) {
    RawMemory.putIntRelease(record + SEND_OFFSET, encode(index));
  }

  /** Writes the receive counter with release semantics. */
  public static void putReceiveIndex(long record, long index) {
    RawMemory.putIntRelease(record + RECEIVE_OFFSET, encode(index));
  }

  /** Writes the consumer index with release semantics. */
  public static void putConsumerIndex(long record, long index) {
    RawMemory.putIntRelease(record + CONSUMER_OFFSET, encodeConsumer(index));
  }
}
