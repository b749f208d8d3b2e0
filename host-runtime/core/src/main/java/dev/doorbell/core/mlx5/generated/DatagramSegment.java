package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * The datagram segment of a UD send: {@code struct mlx5_wqe_datagram_seg}, which is a {@code struct
 * mlx5_wqe_av}. Big-endian; follows the control segment. On a queue pair of {@code
 * core.hca.Transport#DC} every message has one, whose first 8 bytes are the access key of the
 * target ({@code dc_key}).
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class DatagramSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 48;

  public static final int ACCESS_KEY_OFFSET = 0x00;

  public static final int QUEUE_KEY_OFFSET = 0x00;

  public static final int DESTINATION_OFFSET = 0x08;

  public static final int RESERVED_OFFSET = 0x10;

  public static final int MAC_OFFSET = 0x14;

  public static final int TRAFFIC_CLASS_OFFSET = 0x1a;

  public static final int HOP_LIMIT_OFFSET = 0x1b;

  public static final int FLOW_LABEL_OFFSET = 0x1c;

  public static final int GID_OFFSET = 0x20;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 DC access key, or Q_Key|
8 31 31 extended|
8 23 0 destination|
12 31 24 static rate, service level|
12 15 0 rlid|
16 31 0 reserved|
20 31 0 rmac 47:16|
24 31 16 rmac 15:0|
24 15 8 traffic class|
24 7 0 hop limit|
28 30 30 global route|
28 27 20 sgid index|
28 19 0 flow label|
32 63 0 dgid 127:64|
40 63 0 dgid 63:0|
""";

  protected DatagramSegment() {}

  /** The access key of a DC target, in place of the Q_Key and what follows it. */
  public static long accessKey(long at) {
    return BigEndian.getLong(at);
  }

  /** Q_Key that the peer has to expect; with its highest bit set, the sender's own is used. */
  public static int queueKey(long at) {
    return BigEndian.getInt(at);
  }

  /** False for the short form of 16 bytes, without a global route. */
  public static boolean isExtended(long at) {
    return (BigEndian.getInt(at + 0x08) >>> 31 & 1) != 0;
  }

  /** The 24-bit number of the peer's queue pair. */
  public static int destination(long at) {
    return BigEndian.getInt(at + 0x08) & 0xffffff;
  }

  /** Static rate in the upper half, service level or traffic priority in the lower one. */
  public static int serviceLevel(long at) {
    return BigEndian.getInt(at + 0x0c) >>> 24;
  }

  /** The peer's local identifier; with RoCE v2 the source port of UDP. */
  public static int remoteLid(long at) {
    return BigEndian.getInt(at + 0x0c) & 0xffff;
  }

  /** Zero. */
  public static int reserved(long at) {
    return BigEndian.getInt(at + 0x10);
  }

  /** The next hop's Ethernet address, 48 bits. */
  public static long macAddress(long at) {
    return BigEndian.getLong(at + 0x14) >>> 16;
  }

  /** The traffic class. */
  public static int trafficClass(long at) {
    return RawMemory.getByte(at + 0x1a) & 0xff;
  }

  /** The hop limit. */
  public static int hopLimit(long at) {
    return RawMemory.getByte(at + 0x1b) & 0xff;
  }

  /** True when there is a global route. */
  public static boolean hasGlobalRoute(long at) {
    return (BigEndian.getInt(at + 0x1c) >>> 30 & 1) != 0;
  }

  /** Place of the sender's GID in its table. */
  public static int gidIndex(long at) {
    return BigEndian.getInt(at + 0x1c) >>> 20 & 0xff;
  }

  /** The flow label. */
  public static int flowLabel(long at) {
    return BigEndian.getInt(at + 0x1c) & 0xfffff;
  }

  /** The peer's GID, most significant half. */
  public static long gidHigh(long at) {
    return BigEndian.getLong(at + 0x20);
  }

  /** The peer's GID, least significant half. */
  public static long gidLow(long at) {
    return BigEndian.getLong(at + 0x28);
  }

  /** Makes the segment one of DC. */
  public static void putAccessKey(long at, long accessKey) {
    BigEndian.putLong(at, accessKey);
  }

  /** Writes all 48 bytes; rate, service level, flow label and local identifiers are 0. */
  public static void write(
      long at,
      int queueKey,
      int destination,
      long macAddress,
      int trafficClass,
      int hopLimit,
      int gidIndex,
      long gidHigh,
      long gidLow) {
    BigEndian.putLong(at, (long) queueKey << 32);
    BigEndian.putLong(at + 0x08, (long) 1 << 63 | (destination & 0xffffffL) << 32);
    BigEndian.putInt(at + 0x10, 0);
    BigEndian.putLong(
        at + 0x14, macAddress << 16 | (trafficClass & 0xffL) << 8 | (hopLimit & 0xffL));
    BigEndian.putInt(at + 0x1c, 1 << 30 | (gidIndex & 0xff) << 20);
    BigEndian.putLong(at + 0x20, gidHigh);
    BigEndian.putLong(at + 0x28, gidLow);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "dest=0x%06x rlid=0x%04x mac=0x%012x sgid_index=%d"
        .formatted(destination(at), remoteLid(at), macAddress(at), gidIndex(at));
  }
}
