package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * The base transport header (chapter 9.2; FECN and BECN: annex A17).
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class Bth {
  /** Bytes of the structure. */
  public static final int BYTES = 12;

  public static final int OPCODE_OFFSET = 0x00;

  public static final int PKEY_OFFSET = 0x02;

  public static final int DESTINATION_OFFSET = 0x04;

  public static final int PSN_OFFSET = 0x08;

  public static final int FLAGS_OFFSET = 1;

  /** FECN, BECN and reserved bits; the ICRC sees this byte as all ones. */
  public static final int CONGESTION_OFFSET = 4;

  /** The P_Key of the default partition, full membership. */
  public static final int DEFAULT_PKEY = 0xffff;

  /** Numbers of queue pairs and packets have 24 bits. */
  public static final int MASK_24 = 0xff_ffff;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 24 BTH opcode|
0 23 23 solicited event|
0 22 22 migration state|
0 21 20 pad count|bytes after the payload
0 19 16 header version|must be 0
0 15 0 P_Key|
4 31 31 FECN|
4 30 30 BECN|
4 29 24 reserved|
4 23 0 destination queue pair|
8 31 31 ack request|
8 30 24 reserved|
8 23 0 PSN|
""";

  protected Bth() {}

  /** See {@code BthOpcode}. */
  public static int opcode(long at) {
    return RawMemory.getByte(at) & 0xff;
  }

  /** The solicited event bit. */
  public static boolean isSolicited(long at) {
    return (BigEndian.getInt(at) >>> 23 & 1) != 0;
  }

  /** Bytes of padding after the payload, 0 to 3. */
  public static int padCount(long at) {
    return BigEndian.getInt(at) >>> 20 & 0x3;
  }

  /** The transport header version, which must be 0. */
  public static int version(long at) {
    return BigEndian.getInt(at) >>> 16 & 0xf;
  }

  /** The P_Key. */
  public static int partitionKey(long at) {
    return BigEndian.getShort(at + 0x02) & 0xffff;
  }

  /** Forward congestion notification. */
  public static boolean isForwardCongestion(long at) {
    return (BigEndian.getInt(at + 0x04) >>> 31 & 1) != 0;
  }

  /** Backward congestion notification. */
  public static boolean isBackwardCongestion(long at) {
    return (BigEndian.getInt(at + 0x04) >>> 30 & 1) != 0;
  }

  /** Destination queue pair. */
  public static int destination(long at) {
    return BigEndian.getInt(at + 0x04) & 0xffffff;
  }

  /** The sender requests an acknowledgement. */
  public static boolean isAckRequested(long at) {
    return (BigEndian.getInt(at + 0x08) >>> 31 & 1) != 0;
  }

  /** Packet sequence number. */
  public static int psn(long at) {
    return BigEndian.getInt(at + 0x08) & 0xffffff;
  }

  /** Writes all 12 bytes: default partition, version 0, no congestion, reserved bits 0. */
  public static void write(
      long at,
      int opcode,
      boolean solicited,
      int padCount,
      int destination,
      boolean ackRequested,
      int psn) {
    BigEndian.putLong(
        at,
        (long) opcode << 56
            | (solicited ? 1L << 55 : 0)
            | (padCount & 0x3L) << 52
            | (long) DEFAULT_PKEY << 32
            | (destination & 0xffffffL));
    BigEndian.putInt(at + 0x08, (ackRequested ? 1 << 31 : 0) | (psn & 0xffffff));
  }

  /** Overwrites the P_Key. */
  public static void putPartitionKey(long at, int partitionKey) {
    BigEndian.putShort(at + 0x02, (short) (partitionKey));
  }
}
