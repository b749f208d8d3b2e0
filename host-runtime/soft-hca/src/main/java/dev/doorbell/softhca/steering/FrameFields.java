package dev.doorbell.softhca.steering;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;

/**
 * The header fields of an Ethernet frame by which rules match: {@code fte_match_set_lyr_2_4} of
 * Linux's mlx5_ifc.h. Big-endian; fields of headers that a frame does not have are 0.
 *
 * <pre>
 *   31            24 23            16 15                            0
 *  +-----------------------------------------------------------------+
 *  |                          smac 47:16                             |  0x00
 *  +---------------------------------+-------------------------------+
 *  |           smac 15:0             |           ethertype           |  0x04
 *  +---------------------------------+-------------------------------+
 *  |                          dmac 47:16                             |  0x08
 *  +---------------------------------+-----+-+-----------------------+
 *  |           dmac 15:0             | prio|c|      first VLAN       |  0x0c
 *  +----------------+------------+---+-+-+-+-+-------+---------------+
 *  |  IP protocol   |    DSCP    |ECN|C|S|F|version|  TCP flags      |  0x10
 *  +----------------+------------+---+-+-+-+-+-------+---------------+
 *  |        TCP source port          |     TCP destination port      |  0x14
 *  +---------------------------------+----------------+--------------+
 *  |           reserved                               |  hop limit   |  0x18
 *  +---------------------------------+----------------+--------------+
 *  |        UDP source port          |     UDP destination port      |  0x1c
 *  +---------------------------------+-------------------------------+
 *  |       source address; of IPv4 the last 4 of the 16 bytes       ...  0x20
 *  +-----------------------------------------------------------------+
 *  |     destination address; of IPv4 the last 4 of the 16 bytes    ...  0x30
 *  +-----------------------------------------------------------------+
 * </pre>
 *
 * <p>C and S: the VLAN tag is one of a customer or of a service; F: the packet is a fragment.
 */
public final class FrameFields {
  public static final int BYTES = 64;

  public static final int SOURCE_MAC = 0x00;
  public static final int ETHERTYPE = 0x06;
  public static final int DESTINATION_MAC = 0x08;
  public static final int VLAN = 0x0e;
  public static final int PROTOCOL = 0x10;
  public static final int TRAFFIC_CLASS = 0x11;
  public static final int KIND = 0x12;
  public static final int TCP_PORTS = 0x14;
  public static final int HOP_LIMIT = 0x1b;
  public static final int UDP_PORTS = 0x1c;
  public static final int SOURCE = 0x20;
  public static final int DESTINATION = 0x30;

  /** In the 16 bits at {@link #KIND}. */
  public static final int CUSTOMER_TAG = 1 << 15;

  public static final int SERVICE_TAG = 1 << 14;
  public static final int FRAGMENT = 1 << 13;

  /** Shift of the IP version in the 16 bits at {@link #KIND}. */
  public static final int VERSION_SHIFT = 9;

  public static final int IPV4 = 0x0800;
  public static final int IPV6 = 0x86dd;
  public static final int TCP = 6;
  public static final int UDP = 17;

  /** Offset of an IPv4 address among the 16 bytes of an address. */
  public static final int IPV4_OFFSET = 12;

  private static final int CUSTOMER_VLAN = 0x8100;
  private static final int SERVICE_VLAN = 0x88a8;
  private static final int MAC_BYTES = 6;
  private static final int ETHERNET = 14;
  private static final int TAG = 4;
  private static final int IPV4_BYTES = 20;
  private static final int IPV6_BYTES = 40;
  private static final int FRAGMENT_BITS = 0x3fff;
  private static final int TCP_FLAGS_OFFSET = 12;
  private static final int TCP_FLAGS = 0x1ff;

  private FrameFields() {}

  /**
   * Reads the fields of a frame.
   *
   * @param frame native address of its first byte
   * @param bytes its length; what a header lacks at the end of the frame is not read
   * @param to 64 bytes at a native address
   */
  static void read(long frame, int bytes, long to) {
    RawMemory.fill(to, BYTES, (byte) 0);
    if (bytes < ETHERNET) {
      return;
    }
    RawMemory.copy(frame, to + DESTINATION_MAC, MAC_BYTES);
    RawMemory.copy(frame + MAC_BYTES, to + SOURCE_MAC, MAC_BYTES);
    int header = ETHERNET;
    int type = unsigned(frame + ETHERNET - Short.BYTES);
    int kind = 0;
    if ((type == CUSTOMER_VLAN || type == SERVICE_VLAN) && bytes >= header + TAG) {
      kind = type == CUSTOMER_VLAN ? CUSTOMER_TAG : SERVICE_TAG;
      BigEndian.putShort(to + VLAN, BigEndian.getShort(frame + header));
      type = unsigned(frame + header + Short.BYTES);
      header += TAG;
    }
    BigEndian.putShort(to + ETHERTYPE, (short) type);
    if (type == IPV4 && bytes >= header + IPV4_BYTES) {
      kind |= ipv4(frame + header, bytes - header, to);
    } else if (type == IPV6 && bytes >= header + IPV6_BYTES) {
      kind |= ipv6(frame + header, bytes - header, to);
    }
    BigEndian.putShort(to + KIND, (short) (kind | BigEndian.getShort(to + KIND)));
  }

  private static int unsigned(long address) {
    return BigEndian.getShort(address) & 0xffff;
  }

  private static int ipv4(long packet, int bytes, long to) {
    boolean fragment = (BigEndian.getShort(packet + 6) & FRAGMENT_BITS) != 0;
    int protocol = RawMemory.getByte(packet + 9) & 0xff;
    RawMemory.putByte(to + TRAFFIC_CLASS, RawMemory.getByte(packet + 1));
    RawMemory.putByte(to + HOP_LIMIT, RawMemory.getByte(packet + 8));
    RawMemory.copy(packet + 12, to + SOURCE + IPV4_OFFSET, Integer.BYTES);
    RawMemory.copy(packet + 16, to + DESTINATION + IPV4_OFFSET, Integer.BYTES);
    int header = (RawMemory.getByte(packet) & 0xf) * Integer.BYTES;
    ports(protocol, packet + header, fragment ? 0 : bytes - header, to);
    return 4 << VERSION_SHIFT | (fragment ? FRAGMENT : 0);
  }

  private static int ipv6(long packet, int bytes, long to) {
    RawMemory.putByte(to + TRAFFIC_CLASS, (byte) (BigEndian.getInt(packet) >>> 20));
    RawMemory.putByte(to + HOP_LIMIT, RawMemory.getByte(packet + 7));
    RawMemory.copy(packet + 8, to + SOURCE, 16);
    RawMemory.copy(packet + 24, to + DESTINATION, 16);
    ports(RawMemory.getByte(packet + 6) & 0xff, packet + IPV6_BYTES, bytes - IPV6_BYTES, to);
    return 6 << VERSION_SHIFT;
  }

  /** Both port numbers, which TCP and UDP have at the beginning, and the flags of TCP. */
  private static void ports(int protocol, long header, int bytes, long to) {
    RawMemory.putByte(to + PROTOCOL, (byte) protocol);
    if (protocol == UDP && bytes >= Integer.BYTES) {
      RawMemory.copy(header, to + UDP_PORTS, Integer.BYTES);
    } else if (protocol == TCP && bytes >= TCP_FLAGS_OFFSET + Short.BYTES) {
      RawMemory.copy(header, to + TCP_PORTS, Integer.BYTES);
      int flags = BigEndian.getShort(header + TCP_FLAGS_OFFSET) & TCP_FLAGS;
      BigEndian.putShort(to + KIND, (short) flags);
    }
  }

  /** Matches frames whose {@link FrameFields} are {@code value} under a mask. */
  public static final class FlowMatch {
    private final byte[] value;
    private final byte[] mask;

    /**
     * @param value {@link FrameFields#BYTES} bytes
     * @param mask as many; a bit that is 1 has to agree
     */
    public FlowMatch(byte[] value, byte[] mask) {
      if (value.length != FrameFields.BYTES || mask.length != FrameFields.BYTES) {
        throw new IllegalArgumentException(
            "%d and %d bytes; a match has %d"
                .formatted(value.length, mask.length, FrameFields.BYTES));
      }
      this.value = value.clone();
      this.mask = mask.clone();
      for (int i = 0; i < mask.length; i++) {
        this.value[i] &= mask[i];
      }
    }

    /** True when the fields at a native address match. */
    boolean accepts(long fields) {
      for (int i = 0; i < mask.length; i++) {
        if ((RawMemory.getByte(fields + i) & mask[i]) != value[i]) {
          return false;
        }
      }
      return true;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof FlowMatch that
          && Arrays.equals(value, that.value)
          && Arrays.equals(mask, that.mask);
    }

    @Override
    public int hashCode() {
      return 31 * Arrays.hashCode(value) + Arrays.hashCode(mask);
    }
  }
}
