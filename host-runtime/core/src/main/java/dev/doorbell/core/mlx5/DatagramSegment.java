package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The datagram segment of a UD send: {@code struct mlx5_wqe_datagram_seg}, which is a {@code struct
 * mlx5_wqe_av} of rdma-core providers/mlx5/mlx5dv.h. Big-endian; follows the control segment. On a
 * queue pair of {@code core.hca.Transport#DC} every message has one, whose first 8 bytes are the
 * access key of the target that it names ({@code dc_key}).
 *
 * <pre>
 *   31            24 23            16 15             8 7            0
 *  +----------------+----------------+----------------+--------------+
 *  |                             qkey                                |  0x00
 *  +-----------------------------------------------------------------+
 *  |                           reserved                              |  0x04
 *  +-+--------------+------------------------------------------------+
 *  |E|   reserved   |            destination QPN                     |  0x08
 *  +-+--------------+----------------+-------------------------------+
 *  |   rate, SL     |    fl_mlid     |            rlid               |  0x0c
 *  +----------------+----------------+-------------------------------+
 *  |                           reserved                              |  0x10
 *  +-----------------------------------------------------------------+
 *  |                     rmac: Ethernet address                      |  0x14
 *  +                                 +----------------+--------------+
 *  |                                 |     tclass     |  hop limit   |  0x18
 *  +-+-+---+--------------+----------+----------------+--------------+
 *  | |G|   |  GID index   |              flow label                  |  0x1c
 *  +-+-+---+--------------+------------------------------------------+
 *  |                      rgid: 16 bytes                            ...  0x20
 *  +-----------------------------------------------------------------+
 * </pre>
 *
 * <p>E says that the address vector has all 48 bytes.
 */
public final class DatagramSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 48;

  /** Q_Key that the peer has to expect; with its highest bit set, the sender's own is used. */
  public static final int QUEUE_KEY_OFFSET = 0x00;

  /** {@code dc_key}: on DC, in place of the Q_Key and what follows it. */
  public static final int ACCESS_KEY_OFFSET = 0x00;

  /** {@code dqp_dct}: extension bit and destination. */
  public static final int DESTINATION_OFFSET = 0x08;

  /** {@code rmac}. */
  public static final int MAC_OFFSET = 0x14;

  /** {@code tclass}. */
  public static final int TRAFFIC_CLASS_OFFSET = 0x1a;

  /** {@code hop_limit}. */
  public static final int HOP_LIMIT_OFFSET = 0x1b;

  /**
   * {@code grh_gid_fl}: bit 30 says that there is a global route; the sender's GID index is in bits
   * 27:20, the flow label in bits 19:0.
   */
  public static final int FLOW_LABEL_OFFSET = 0x1c;

  /** {@code rgid}. */
  public static final int GID_OFFSET = 0x20;

  private static final int EXTENDED = 1 << 31;
  private static final int GLOBAL_ROUTE = 1 << 30;
  private static final int QPN_MASK = 0xff_ffff;
  private static final int FLOW_MASK = 0xf_ffff;

  private DatagramSegment() {}

  /** The Q_Key. */
  public static int queueKey(long address) {
    return BigEndian.getInt(address + QUEUE_KEY_OFFSET);
  }

  /** The access key of a DC target. */
  public static long accessKey(long address) {
    return BigEndian.getLong(address + ACCESS_KEY_OFFSET);
  }

  /** Makes the segment one of DC: for the target that it names as destination. */
  public static void putAccessKey(long address, long key) {
    BigEndian.putLong(address + ACCESS_KEY_OFFSET, key);
  }

  /** False for the short form of 16 bytes, without a global route. */
  public static boolean isExtended(long address) {
    return BigEndian.getInt(address + DESTINATION_OFFSET) < 0;
  }

  /** The 24-bit number of the peer's queue pair. */
  public static int destination(long address) {
    return BigEndian.getInt(address + DESTINATION_OFFSET) & QPN_MASK;
  }

  /** The next hop's Ethernet address, 48 bits. */
  public static long macAddress(long address) {
    return BigEndian.getLong(address + MAC_OFFSET) >>> 16;
  }

  /** The traffic class. */
  public static int trafficClass(long address) {
    return RawMemory.getByte(address + TRAFFIC_CLASS_OFFSET) & 0xff;
  }

  /** The hop limit. */
  public static int hopLimit(long address) {
    return RawMemory.getByte(address + HOP_LIMIT_OFFSET) & 0xff;
  }

  /** The flow label. */
  public static int flowLabel(long address) {
    return BigEndian.getInt(address + FLOW_LABEL_OFFSET) & FLOW_MASK;
  }

  /** Which GID of its table the sender names itself by. */
  public static int gidIndex(long address) {
    return BigEndian.getInt(address + FLOW_LABEL_OFFSET) >>> 20 & 0xff;
  }

  /** The peer's GID, most significant half. */
  public static long gidHigh(long address) {
    return BigEndian.getLong(address + GID_OFFSET);
  }

  /** The peer's GID, least significant half. */
  public static long gidLow(long address) {
    return BigEndian.getLong(address + GID_OFFSET + Long.BYTES);
  }

  /**
   * Writes all 48 bytes; rate, service level, flow label and local identifiers are 0.
   *
   * @param destination the peer's 24-bit queue pair number
   * @param macAddress 48 bits
   * @param gidIndex place of the sender's GID in its table
   */
  public static void write(
      long address,
      int queueKey,
      int destination,
      long macAddress,
      int trafficClass,
      int hopLimit,
      int gidIndex,
      long gidHigh,
      long gidLow) {
    BigEndian.putInt(address + QUEUE_KEY_OFFSET, queueKey);
    BigEndian.putInt(address + QUEUE_KEY_OFFSET + Integer.BYTES, 0);
    BigEndian.putLong(
        address + DESTINATION_OFFSET, (long) (EXTENDED | (destination & QPN_MASK)) << 32);
    BigEndian.putInt(address + DESTINATION_OFFSET + Long.BYTES, 0);
    BigEndian.putLong(
        address + MAC_OFFSET,
        macAddress << 16 | (long) (trafficClass & 0xff) << 8 | (hopLimit & 0xff));
    BigEndian.putInt(address + FLOW_LABEL_OFFSET, GLOBAL_ROUTE | (gidIndex & 0xff) << 20);
    BigEndian.putLong(address + GID_OFFSET, gidHigh);
    BigEndian.putLong(address + GID_OFFSET + Long.BYTES, gidLow);
  }
}
