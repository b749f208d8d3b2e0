package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.InternetChecksum;
import dev.doorbell.core.roce.Ipv6Header;
import java.util.HashMap;
import java.util.Map;

/**
 * Which MAC address a GID has on an Ethernet: ARP (RFC 826) and neighbour discovery (RFC 4861),
 * asked and answered, and static entries.
 *
 * <pre>
 *   ARP, behind the Ethernet header: hardware 0 | protocol 2 | lengths 4 | operation 6
 *     | sender MAC 8, IPv4 14 | target MAC 18, IPv4 24
 *   ICMPv6 neighbour messages, behind the IPv6 header: type 0 | code 1 | checksum 2 | flags 4
 *     | target 8 | option type 24, length in 8 bytes 25, MAC 26
 * </pre>
 */
final class Neighbours {
  private static final int ARP_BYTES = 28;
  private static final int ARP_OPERATION = 6;
  private static final int ARP_SENDER_MAC = 8;
  private static final int ARP_SENDER = 14;
  private static final int ARP_TARGET_MAC = 18;
  private static final int ARP_TARGET = 24;
  private static final int ARP_REQUEST = 1;
  private static final int ARP_REPLY = 2;
  private static final long ARP_ETHERNET_IPV4 = 0x0001_0800_0604L;

  private static final int ND_BYTES = 32;
  private static final int ND_TARGET = 8;
  private static final int ND_OPTION = 24;
  private static final int ND_OPTION_MAC = 26;
  private static final int SOLICITATION = 135;
  private static final int ADVERTISEMENT = 136;
  private static final int SOURCE_MAC_OPTION = 1;
  private static final int TARGET_MAC_OPTION = 2;
  private static final int SOLICITED_OVERRIDE = 0x6000_0000;
  private static final int ND_HOP_LIMIT = 255;
  private static final long SOLICITED_NODE_HIGH = 0xff02L << 48;
  private static final long SOLICITED_NODE_LOW = 0x0000_0001_ff00_0000L;
  private static final long IPV6_MULTICAST_MAC = 0x3333_0000_0000L;

  /** Ethernet's smallest frame without its check sequence; shorter ones are padded. */
  static final int SMALLEST_FRAME = 60;

  private final long ownMac;
  private final GidTable own;
  private final Map<Gid, Long> known = new HashMap<>();

  Neighbours(long ownMac, GidTable own, Map<Gid, Long> fixed) {
    this.ownMac = ownMac;
    this.own = own;
    known.putAll(fixed);
  }

  /** The MAC address of a GID, or -1 when it is not known. */
  long mac(Gid gid) {
    Long found = known.get(gid);
    return found == null ? -1 : found;
  }

  /**
   * Looks at a frame that is not RoCE.
   *
   * @param frame its Ethernet header
   * @param reply where an answer goes, of at least 128 bytes
   * @return bytes of the answer, or 0
   */
  int handle(long frame, int bytes, long reply) {
    int type = EthernetHeader.type(frame);
    if (type == EthernetHeader.ARP && bytes >= EthernetHeader.BYTES + ARP_BYTES) {
      return handleArp(frame + EthernetHeader.BYTES, reply);
    }
    if (type == EthernetHeader.IPV6
        && bytes >= EthernetHeader.BYTES + Ipv6Header.BYTES + ND_OPTION) {
      return handleNd(
          frame + EthernetHeader.BYTES, bytes - EthernetHeader.BYTES - Ipv6Header.BYTES, reply);
    }
    return 0;
  }

  private int handleArp(long arp, long reply) {
    if (BigEndian.getLong(arp) >>> Short.SIZE != ARP_ETHERNET_IPV4) {
      return 0;
    }
    Gid sender = Gid.ofIpv4(BigEndian.getInt(arp + ARP_SENDER));
    Gid target = Gid.ofIpv4(BigEndian.getInt(arp + ARP_TARGET));
    boolean forUs = own.contains(target.high(), target.low());
    if (!forUs) {
      return 0;
    }
    long senderMac = mac(arp + ARP_SENDER_MAC);
    known.put(sender, senderMac);
    if ((BigEndian.getShort(arp + ARP_OPERATION) & 0xffff) != ARP_REQUEST) {
      return 0;
    }
    return writeArp(
        reply, ARP_REPLY, senderMac, senderMac, /* sender= */ target, /* target= */ sender);
  }

  private int writeArp(
      long frame, int operation, long destination, long targetMac, Gid sender, Gid target) {
    RawMemory.fill(frame, SMALLEST_FRAME, (byte) 0);
    EthernetHeader.write(frame, destination, ownMac, EthernetHeader.ARP);
    long arp = frame + EthernetHeader.BYTES;
    BigEndian.putLong(arp, ARP_ETHERNET_IPV4 << Short.SIZE | operation);
    EthernetHeader.putMac(arp + ARP_SENDER_MAC, ownMac);
    BigEndian.putInt(arp + ARP_SENDER, sender.ipv4());
    EthernetHeader.putMac(arp + ARP_TARGET_MAC, targetMac);
    BigEndian.putInt(arp + ARP_TARGET, target.ipv4());
    return SMALLEST_FRAME;
  }

  private int handleNd(long ip, int bytes, long reply) {
    long icmp = ip + Ipv6Header.BYTES;
    int type = RawMemory.getByte(icmp) & 0xff;
    if (Ipv6Header.nextHeader(ip) != Ipv6Header.ICMPV6
        || Ipv6Header.hopLimit(ip) != ND_HOP_LIMIT
        || (type != SOLICITATION && type != ADVERTISEMENT)) {
      return 0;
    }
    Gid target = Gid.read(icmp + ND_TARGET);
    Gid sender = Gid.read(ip + Ipv6Header.SOURCE_OFFSET);
    long mac = optionMac(icmp, bytes);
    if (type == ADVERTISEMENT) {
      if (mac >= 0) {
        known.put(target, mac);
      }
      return 0;
    }
    if (!own.contains(target.high(), target.low()) || mac < 0) {
      return 0;
    }
    known.put(sender, mac);
    return writeNd(
        reply, ADVERTISEMENT, SOLICITED_OVERRIDE, mac, target, sender, target, TARGET_MAC_OPTION);
  }

  /** The MAC address in the first option, or -1. */
  private static long optionMac(long icmp, int bytes) {
    if (bytes < ND_BYTES) {
      return -1;
    }
    int type = RawMemory.getByte(icmp + ND_OPTION);
    boolean isMac = type == SOURCE_MAC_OPTION || type == TARGET_MAC_OPTION;
    return isMac ? mac(icmp + ND_OPTION_MAC) : -1;
  }

  private int writeNd(
      long frame,
      int type,
      int flags,
      long destinationMac,
      Gid source,
      Gid destination,
      Gid target,
      int option) {
    EthernetHeader.write(frame, destinationMac, ownMac, EthernetHeader.IPV6);
    long ip = frame + EthernetHeader.BYTES;
    Ipv6Header.write(ip, 0, 0, ND_BYTES, Ipv6Header.ICMPV6, ND_HOP_LIMIT, source, destination);
    long icmp = ip + Ipv6Header.BYTES;
    BigEndian.putInt(icmp, type << 24);
    BigEndian.putInt(icmp + Integer.BYTES, flags);
    target.write(icmp + ND_TARGET);
    BigEndian.putShort(icmp + ND_OPTION, (short) (option << Byte.SIZE | 1));
    EthernetHeader.putMac(icmp + ND_OPTION_MAC, ownMac);
    // The pseudo-header: addresses, length, next header.
    long sum = InternetChecksum.sum(0, ip + Ipv6Header.SOURCE_OFFSET, 2 * Gid.BYTES);
    sum += ND_BYTES + Ipv6Header.ICMPV6;
    int checksum = InternetChecksum.finish(InternetChecksum.sum(sum, icmp, ND_BYTES));
    BigEndian.putShort(icmp + Short.BYTES, (short) checksum);
    return EthernetHeader.BYTES + Ipv6Header.BYTES + ND_BYTES;
  }

  /**
   * Writes a question for the MAC address of a GID.
   *
   * @param frame where it goes, of at least 128 bytes
   * @return its bytes
   */
  int ask(long frame, Gid source, Gid target) {
    if (target.isIpv4()) {
      return writeArp(frame, ARP_REQUEST, EthernetHeader.BROADCAST, 0, source, target);
    }
    Gid node = new Gid(SOLICITED_NODE_HIGH, SOLICITED_NODE_LOW | (target.low() & 0xff_ffff));
    long mac = IPV6_MULTICAST_MAC | (node.low() & 0xffff_ffffL);
    return writeNd(frame, SOLICITATION, 0, mac, source, node, target, SOURCE_MAC_OPTION);
  }

  /** The 6 bytes at {@code address}. */
  private static long mac(long address) {
    return (long) (BigEndian.getShort(address) & 0xffff) << 32
        | (BigEndian.getInt(address + Short.BYTES) & 0xffff_ffffL);
  }
}
