package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The 8 bytes stored to a UAR page to ring. Big-endian.
 *
 * <pre>
 *   31            24 23                            8 7             0
 *  +----------------+-------------------------------+---------------+
 *  |    ignored     |             index             |    ignored    |  0  send doorbell
 *  +----------------+-------------------------------+---------------+
 *  |                      qpn                       |    ignored    |  4
 *  +------------------------------------------------+---------------+
 *
 *   31  28 27 25  24 23                                             0
 *  +------+-----+---+-----------------------------------------------+
 *  |  sn  |  0  | S |             consumer index                    |  0  CQ arm doorbell
 *  +------+-----+---+-----------------------------------------------+
 *  |  0             |                  cqn                          |  4
 *  +----------------+-----------------------------------------------+
 * </pre>
 *
 * <p>A send doorbell is the beginning of a control segment. libmlx5 stores that of the last WQE
 * posted, so its index is where that WQE <em>starts</em>; device libraries store the index of the
 * next free block, and GPUNetIO lets the higher bits of its counter run into the ignored byte. An
 * HCA takes a doorbell as a hint to look, and reads the truth in the {@link DoorbellRecord}.
 */
public final class Doorbell {
  public static final int BYTES = 8;

  /** Bytes of a UAR page. */
  public static final int UAR_BYTES = 4096;

  /** In a UAR page: the first doorbell or BlueFlame register ({@code MLX5_BF_OFFSET}). */
  public static final int REGISTER_OFFSET = 0x800;

  /** In a UAR page: the CQ arm doorbell. */
  public static final int ARM_OFFSET = 0x20;

  /** In a UAR page: the doorbell of queue pairs without record (GPUNetIO doca_verbs_uar.cpp). */
  public static final int RECORDLESS_OFFSET = 0x600;

  /** In the first word of a CQ arm doorbell: solicited completions only. */
  public static final int ARM_SOLICITED = 1 << 24;

  private Doorbell() {}

  /**
   * A send doorbell as a little-endian 64-bit store puts it on the bus.
   *
   * @param index of the next free block; 16 bits count
   * @param qpn 24 bits
   */
  public static long encode(long index, int qpn) {
    long first = (index & SendQueue.INDEX_MASK) << 8;
    return BigEndian.swap(first << 32 | ((long) qpn << 8 & 0xffff_ff00L));
  }

  /** The 16-bit index of a send doorbell's value as {@link #encode} gives it. */
  public static int index(long value) {
    return (int) (BigEndian.swap(value) >>> 40) & SendQueue.INDEX_MASK;
  }

  /** The 24-bit queue pair number of a send doorbell's value as {@link #encode} gives it. */
  public static int qpn(long value) {
    return (int) BigEndian.swap(value) >>> 8;
  }

  /** The value of the 8 bytes at {@code address}, for {@link #index} and {@link #qpn}. */
  public static long read(long address) {
    return RawMemory.getLong(address);
  }

  /**
   * A CQ arm doorbell as a little-endian 64-bit store puts it on the bus; its first word is also
   * the arm word of the {@link DoorbellRecord}.
   *
   * @param sequence how often the queue was armed; 2 bits count
   * @param solicitedOnly ask for solicited completions only
   */
  public static long encodeArm(int sequence, boolean solicitedOnly, long consumerIndex, int cqn) {
    int command = solicitedOnly ? ARM_SOLICITED : 0;
    int first =
        (sequence & 3) << 28 | command | ((int) consumerIndex & DoorbellRecord.CONSUMER_MASK);
    return BigEndian.swap((long) first << 32 | (cqn & 0xff_ffffL));
  }

  /** The consumer index of an arm doorbell's value. */
  public static int armConsumerIndex(long value) {
    return (int) (BigEndian.swap(value) >>> 32) & DoorbellRecord.CONSUMER_MASK;
  }

  /** The completion queue of an arm doorbell's value. */
  public static int armCqn(long value) {
    return (int) BigEndian.swap(value) & 0xff_ffff;
  }

  /** True when an arm doorbell's value asks for solicited completions only. */
  public static boolean armSolicitedOnly(long value) {
    return ((BigEndian.swap(value) >>> 32) & ARM_SOLICITED) != 0;
  }
}
