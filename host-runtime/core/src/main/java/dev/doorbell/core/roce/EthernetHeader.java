package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The Ethernet header without a VLAN tag. Addresses are the low 48 bits of a long.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  |                     destination MAC 47:16                      |  0
 *  +--------------------------------+-------------------------------+
 *  |      destination MAC 15:0      |        source MAC 47:32       |  4
 *  +--------------------------------+-------------------------------+
 *  |                       source MAC 31:0                          |  8
 *  +--------------------------------+-------------------------------+
 *  |            EtherType           |                                 12
 *  +--------------------------------+
 * </pre>
 */
public final class EthernetHeader {
  /** Bytes of the header. */
  public static final int BYTES = 14;

  /** Bytes of a VLAN tag, which stands before the EtherType where there is one. */
  public static final int VLAN_BYTES = 4;

  public static final int IPV4 = 0x0800;
  public static final int ARP = 0x0806;
  public static final int VLAN = 0x8100;

  /** The outer tag of two (IEEE 802.1ad), and the one that was used for it before. */
  public static final int SERVICE_VLAN = 0x88a8;

  public static final int OLD_SERVICE_VLAN = 0x9100;
  public static final int IPV6 = 0x86dd;

  /** RoCE version 1: a GRH follows. */
  public static final int ROCE_V1 = 0x8915;

  /** The address that everybody listens to. */
  public static final long BROADCAST = 0xffff_ffff_ffffL;

  private static final int DESTINATION_OFFSET = 0;
  private static final int SOURCE_OFFSET = 6;
  private static final int TYPE_OFFSET = 12;

  private EthernetHeader() {}

  /** The EtherType, or {@link #VLAN}. */
  public static int type(long address) {
    return BigEndian.getShort(address + TYPE_OFFSET) & 0xffff;
  }

  /** Writes all 14 bytes. */
  public static void write(long address, long destination, long source, int type) {
    putMac(address + DESTINATION_OFFSET, destination);
    putMac(address + SOURCE_OFFSET, source);
    BigEndian.putShort(address + TYPE_OFFSET, (short) type);
  }

  /** Writes 6 bytes. */
  public static void putMac(long address, long mac) {
    BigEndian.putShort(address, (short) (mac >>> 32));
    BigEndian.putInt(address + Short.BYTES, (int) mac);
  }
}
