package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The base transport header (InfiniBand specification, chapter 9.2; FECN and BECN: annex A17).
 *
 * <pre>
 *   31             24 23 22 21 20 19   16 15                        0
 *  +-----------------+--+--+-----+-------+--------------------------+
 *  | opcode          |SE| M| pad | TVer  | P_Key                    |  0
 *  +--+--+-----------+--+--+-----+-------+--------------------------+
 *  |FE|BE| reserved  | destination queue pair                       |  4
 *  +--+--+-----------+----------------------------------------------+
 *  |A | reserved     | packet sequence number                       |  8
 *  +--+--------------+----------------------------------------------+
 * </pre>
 */
public final class Bth {
  /** Bytes of the header. */
  public static final int BYTES = 12;

  public static final int OPCODE_OFFSET = 0;
  public static final int FLAGS_OFFSET = 1;
  public static final int PKEY_OFFSET = 2;

  /** FECN, BECN and reserved bits; the ICRC sees this byte as all ones. */
  public static final int CONGESTION_OFFSET = 4;

  public static final int DESTINATION_OFFSET = 4;
  public static final int PSN_OFFSET = 8;

  /** The P_Key of the default partition, full membership. */
  public static final int DEFAULT_PKEY = 0xffff;

  /** Numbers of queue pairs and packets have 24 bits. */
  public static final int MASK_24 = 0xff_ffff;

  private static final int SOLICITED = 1 << 23;
  private static final int PAD_SHIFT = 20;
  private static final int VERSION_SHIFT = 16;
  private static final int FORWARD_CONGESTION = 0x80;
  private static final int BACKWARD_CONGESTION = 0x40;
  private static final int ACK_REQUEST = 1 << 31;

  private Bth() {}

  public static int opcode(long address) {
    return RawMemory.getByte(address) & 0xff;
  }

  /** The solicited event bit. */
  public static boolean isSolicited(long address) {
    return (BigEndian.getInt(address) & SOLICITED) != 0;
  }

  /** Bytes of padding after the payload, 0 to 3. */
  public static int padCount(long address) {
    return BigEndian.getInt(address) >>> PAD_SHIFT & 3;
  }

  /** The transport header version, which must be 0. */
  public static int version(long address) {
    return BigEndian.getInt(address) >>> VERSION_SHIFT & 0xf;
  }

  public static int partitionKey(long address) {
    return BigEndian.getShort(address + PKEY_OFFSET) & 0xffff;
  }

  public static boolean isForwardCongestion(long address) {
    return (RawMemory.getByte(address + CONGESTION_OFFSET) & FORWARD_CONGESTION) != 0;
  }

  public static boolean isBackwardCongestion(long address) {
    return (RawMemory.getByte(address + CONGESTION_OFFSET) & BACKWARD_CONGESTION) != 0;
  }

  public static int destination(long address) {
    return BigEndian.getInt(address + DESTINATION_OFFSET) & MASK_24;
  }

  public static boolean isAckRequested(long address) {
    return (BigEndian.getInt(address + PSN_OFFSET) & ACK_REQUEST) != 0;
  }

  public static int psn(long address) {
    return BigEndian.getInt(address + PSN_OFFSET) & MASK_24;
  }

  /** Writes all 12 bytes: default partition, version 0, no congestion, reserved bits 0. */
  public static void write(
      long address,
      int opcode,
      boolean solicited,
      int padCount,
      int destination,
      boolean ackRequest,
      int psn) {
    BigEndian.putInt(
        address, opcode << 24 | (solicited ? SOLICITED : 0) | padCount << PAD_SHIFT | DEFAULT_PKEY);
    BigEndian.putInt(address + DESTINATION_OFFSET, destination & MASK_24);
    BigEndian.putInt(address + PSN_OFFSET, (ackRequest ? ACK_REQUEST : 0) | (psn & MASK_24));
  }

  /** Overwrites the P_Key. */
  public static void putPartitionKey(long address, int key) {
    BigEndian.putShort(address + PKEY_OFFSET, (short) key);
  }
}
