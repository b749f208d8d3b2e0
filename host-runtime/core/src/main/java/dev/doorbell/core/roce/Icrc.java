package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.generated.Bth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * The invariant CRC at the end of every RoCE packet (InfiniBand specification, chapter 7.8.1; annex
 * A17.4): Ethernet's CRC-32 over 8 bytes of ones and everything from the IP header to the padding,
 * with the fields that routers change as ones. It is stored least significant byte first.
 *
 * <p>Ones stand for: of IPv4, type of service, time to live, header checksum; of IPv6 and GRH,
 * traffic class, flow label, hop limit; of UDP, the checksum; of the BTH, the byte with FECN and
 * BECN. The IPv4 identification counts as it is. Not thread-safe; allocates nothing after
 * construction but where said.
 */
public final class Icrc {
  /** Bytes of the CRC. */
  public static final int BYTES = 4;

  private static final int PREFIX = 8;
  private static final int MAX_IP = 60;
  private static final int TRAFFIC_CLASS_AND_FLOW = 0x0fff_ffff;

  private final CRC32 crc = new CRC32();
  private final MemorySegment scratch =
      Arena.ofAuto().allocate(PREFIX + MAX_IP + UdpHeader.BYTES + Bth.BYTES, Long.BYTES);
  private final ByteBuffer masked = scratch.asByteBuffer();
  private final long prefix = scratch.address();

  /** Creates a computation. */
  public Icrc() {
    RawMemory.putLong(prefix, -1);
  }

  /**
   * Computes the CRC of a frame that lies in a buffer.
   *
   * @param frame parsed, inside {@code buffer}
   * @param buffer a direct buffer; its position and limit are changed
   * @param base native address of the buffer's byte 0
   * @return as {@link #read} returns it
   */
  public int of(RoceFrame frame, ByteBuffer buffer, long base) {
    start(frame.ip, frame.ipv6, frame.udp != 0);
    int from = (int) (frame.bth + Bth.BYTES - base);
    buffer.limit((int) (frame.icrc - base)).position(from);
    crc.update(buffer);
    return (int) crc.getValue();
  }

  /** Computes the CRC of a frame anywhere; allocates a buffer. */
  public int of(RoceFrame frame) {
    long from = frame.bth + Bth.BYTES;
    return of(frame, RawMemory.view(from, (int) (frame.icrc - from)), from);
  }

  /**
   * Computes the CRC of a packet whose headers lie in one piece from the IP header on.
   *
   * @param ip address of the IP header or GRH
   * @param udp false where the BTH follows the GRH at once
   * @param buffer a direct buffer that holds what follows the BTH
   * @param from position in the buffer of the first byte after the BTH
   * @param to position behind the padding
   */
  public int of(long ip, boolean ipv6, boolean udp, ByteBuffer buffer, int from, int to) {
    start(ip, ipv6, udp);
    buffer.limit(to).position(from);
    crc.update(buffer);
    return (int) crc.getValue();
  }

  private void start(long ip, boolean ipv6, boolean udp) {
    int ipBytes = ipv6 ? Ipv6Header.BYTES : Ipv4Header.headerBytes(ip);
    int headers = ipBytes + (udp ? UdpHeader.BYTES : 0);
    long copy = prefix + PREFIX;
    RawMemory.copy(ip, copy, headers + Bth.BYTES);
    if (ipv6) {
      BigEndian.putInt(copy, BigEndian.getInt(copy) | TRAFFIC_CLASS_AND_FLOW);
      RawMemory.putByte(copy + Ipv6Header.HOP_LIMIT_OFFSET, (byte) -1);
    } else {
      RawMemory.putByte(copy + Ipv4Header.TRAFFIC_CLASS_OFFSET, (byte) -1);
      RawMemory.putByte(copy + Ipv4Header.TTL_OFFSET, (byte) -1);
      RawMemory.putShort(copy + Ipv4Header.CHECKSUM_OFFSET, (short) -1);
    }
    if (udp) {
      RawMemory.putShort(copy + ipBytes + UdpHeader.CHECKSUM_OFFSET, (short) -1);
    }
    RawMemory.putByte(copy + headers + Bth.CONGESTION_OFFSET, (byte) -1);
    crc.reset();
    masked.limit(PREFIX + headers + Bth.BYTES).position(0);
    crc.update(masked);
  }

  /** The CRC that stands at {@code address}. */
  public static int read(long address) {
    return RawMemory.getInt(address);
  }

  public static void write(long address, int icrc) {
    RawMemory.putInt(address, icrc);
  }
}
