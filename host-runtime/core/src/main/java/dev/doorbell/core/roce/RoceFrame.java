package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.DcEth;
import dev.doorbell.core.roce.generated.MaskedAtomicEth;

/**
 * Finds the parts of a RoCE frame. One object parses any number of frames and allocates nothing;
 * its fields describe the last one.
 */
public final class RoceFrame {
  /** Bytes of the largest frame: VLAN tag, IPv6, the largest headers and path MTU, ICRC. */
  public static final int MAX_BYTES =
      EthernetHeader.BYTES
          + EthernetHeader.VLAN_BYTES
          + Ipv6Header.BYTES
          + UdpHeader.BYTES
          + Bth.BYTES
          + MaskedAtomicEth.BYTES
          + DcEth.BYTES
          + 4096
          + Icrc.BYTES;

  /** The result of parsing a frame. */
  public enum Verdict {
    /** A RoCE packet; all parts are where they should be. The ICRC was not looked at. */
    ROCE("RoCE"),
    /** Something else: ARP, TCP, UDP to another port. */
    OTHER("not RoCE"),
    /** It ends before its headers do. */
    TRUNCATED("truncated"),
    /** A fragment of an IP datagram: RoCE forbids them. */
    FRAGMENT("an IP fragment"),
    /** Lengths of IP, UDP and the frame contradict each other. */
    BAD_LENGTH("lengths contradict each other"),
    /** A transport header version other than 0. */
    BAD_VERSION("transport header version is not 0"),
    BAD_OPCODE("unknown opcode");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** 1 (GRH behind the EtherType) or 2 (UDP). */
  public int version;

  /** True when {@link #ip} is an IPv6 header or a GRH. */
  public boolean ipv6;

  /** Address of the Ethernet header, or 0. */
  public long ethernet;

  /** Address of the IP header or GRH. */
  public long ip;

  /** Address of the UDP header, or 0 in version 1. */
  public long udp;

  /** Address of the base transport header. */
  public long bth;

  public int opcode;

  /** Set of {@link BthOpcode} header bits. */
  public int headers;

  /** Address of the first extended header. */
  public long extended;

  public long payload;

  /** Bytes of payload, padding not counted. */
  public int payloadBytes;

  public long icrc;

  /** Port and header of VXLAN (RFC 7348), behind which an Ethernet frame follows. */
  private static final int VXLAN_PORT = 4789;

  private static final int VXLAN_BYTES = 8;

  /** The UDP port that counts as RoCE. */
  private final int port;

  /** Parses packets to UDP port {@value UdpHeader#ROCE_PORT}. */
  public RoceFrame() {
    this(UdpHeader.ROCE_PORT);
  }

  /** Parses packets to UDP port {@code port}, or to any for 0. */
  public RoceFrame(int port) {
    this.port = port;
  }

  /**
   * Parses a frame that starts with an Ethernet header.
   *
   * @param bytes of the frame, without a frame check sequence; Ethernet padding is ignored
   */
  public Verdict parse(long address, int bytes) {
    clear();
    ethernet = address;
    if (bytes < EthernetHeader.BYTES) {
      return Verdict.TRUNCATED;
    }
    return parseType(
        EthernetHeader.type(address), address + EthernetHeader.BYTES, bytes - EthernetHeader.BYTES);
  }

  /**
   * Parses what follows an EtherType.
   *
   * @param type the EtherType, which may be that of a VLAN tag
   * @param next the first byte after it
   * @param left bytes from there
   */
  private Verdict parseType(int type, long next, int left) {
    return switch (type) {
      case EthernetHeader.VLAN, EthernetHeader.SERVICE_VLAN, EthernetHeader.OLD_SERVICE_VLAN ->
          left < EthernetHeader.VLAN_BYTES
              ? Verdict.TRUNCATED
              : parseType(
                  BigEndian.getShort(next + Short.BYTES) & 0xffff,
                  next + EthernetHeader.VLAN_BYTES,
                  left - EthernetHeader.VLAN_BYTES);
      case EthernetHeader.IPV4 -> parseIpv4(next, left);
      case EthernetHeader.IPV6 -> parseIpv6(next, left);
      case EthernetHeader.ROCE_V1 -> parseGrh(next, left);
      default -> Verdict.OTHER;
    };
  }

  /**
   * Parses a frame of a capture.
   *
   * @param linkType as tcpdump.org registers it
   */
  public Verdict parse(int linkType, long address, int bytes) {
    LinkHeader link = LinkHeader.of(linkType);
    if (link == LinkHeader.ETHERNET) {
      return parse(address, bytes);
    }
    if (link == LinkHeader.RAW_IP) {
      return parseIp(address, bytes);
    }
    clear();
    if (link == LinkHeader.UNREAD || bytes < link.bytes) {
      return link == LinkHeader.UNREAD ? Verdict.OTHER : Verdict.TRUNCATED;
    }
    return link == LinkHeader.LOOPBACK
        ? parseIp(address + link.bytes, bytes - link.bytes)
        : parseType(
            BigEndian.getShort(address + link.typeOffset) & 0xffff,
            address + link.bytes,
            bytes - link.bytes);
  }

  /** Parses a frame that starts with an IPv4 or IPv6 header. */
  public Verdict parseIp(long address, int bytes) {
    clear();
    if (bytes < 1) {
      return Verdict.TRUNCATED;
    }
    return switch (Ipv4Header.version(address)) {
      case 4 -> parseIpv4(address, bytes);
      case 6 -> parseIpv6(address, bytes);
      default -> Verdict.OTHER;
    };
  }

  /**
   * Parses what a UDP socket gives, whose headers were taken away and written elsewhere.
   *
   * @param headers address of the IP header, with the UDP header right behind it
   * @param ipv6 true for an IPv6 header
   * @param address of the base transport header
   * @param bytes from there to the ICRC, both included
   */
  public Verdict parseDatagram(long headers, boolean ipv6, long address, int bytes) {
    clear();
    ip = headers;
    this.ipv6 = ipv6;
    udp = headers + (ipv6 ? Ipv6Header.BYTES : Ipv4Header.BYTES);
    version = 2;
    return parseTransport(address, bytes);
  }

  private void clear() {
    version = 0;
    ethernet = 0;
    ip = 0;
    udp = 0;
    bth = 0;
    opcode = 0;
    headers = 0;
    extended = 0;
    payload = 0;
    payloadBytes = 0;
    icrc = 0;
  }

  private Verdict parseIpv4(long address, int bytes) {
    ip = address;
    ipv6 = false;
    if (bytes < Ipv4Header.BYTES) {
      return Verdict.TRUNCATED;
    }
    int header = Ipv4Header.headerBytes(address);
    int total = Ipv4Header.totalLength(address);
    if (Ipv4Header.version(address) != 4 || header < Ipv4Header.BYTES || total < header) {
      return Verdict.BAD_LENGTH;
    }
    if (Ipv4Header.protocol(address) != Ipv4Header.UDP) {
      return Verdict.OTHER;
    }
    if (Ipv4Header.isFragment(address)) {
      return Verdict.FRAGMENT;
    }
    if (total > bytes) {
      return Verdict.TRUNCATED;
    }
    return parseUdp(address + header, total - header);
  }

  private Verdict parseIpv6(long address, int bytes) {
    ip = address;
    ipv6 = true;
    if (bytes < Ipv6Header.BYTES) {
      return Verdict.TRUNCATED;
    }
    if (Ipv6Header.version(address) != 6) {
      return Verdict.BAD_LENGTH;
    }
    if (Ipv6Header.nextHeader(address) != Ipv6Header.UDP) {
      return Verdict.OTHER;
    }
    int length = Ipv6Header.payloadLength(address);
    if (length > bytes - Ipv6Header.BYTES) {
      return Verdict.TRUNCATED;
    }
    return parseUdp(address + Ipv6Header.BYTES, length);
  }

  private Verdict parseGrh(long address, int bytes) {
    ip = address;
    ipv6 = true;
    if (bytes < Ipv6Header.BYTES) {
      return Verdict.TRUNCATED;
    }
    if (Ipv6Header.version(address) != 6
        || Ipv6Header.nextHeader(address) != Ipv6Header.IBA_TRANSPORT) {
      return Verdict.BAD_LENGTH;
    }
    int length = Ipv6Header.payloadLength(address);
    if (length > bytes - Ipv6Header.BYTES) {
      return Verdict.TRUNCATED;
    }
    version = 1;
    return parseTransport(address + Ipv6Header.BYTES, length);
  }

  private Verdict parseUdp(long address, int bytes) {
    udp = address;
    if (bytes < UdpHeader.BYTES) {
      return Verdict.TRUNCATED;
    }
    int destination = UdpHeader.destinationPort(address);
    if (destination == VXLAN_PORT && port != 0 && port != VXLAN_PORT) {
      int header = UdpHeader.BYTES + VXLAN_BYTES;
      return bytes < header ? Verdict.TRUNCATED : parse(address + header, bytes - header);
    }
    if (port != 0 && destination != port) {
      return Verdict.OTHER;
    }
    if (UdpHeader.length(address) != bytes) {
      return Verdict.BAD_LENGTH;
    }
    version = 2;
    return parseTransport(address + UdpHeader.BYTES, bytes - UdpHeader.BYTES);
  }

  /** Parses {@code bytes} bytes from the base transport header to the ICRC. */
  private Verdict parseTransport(long address, int bytes) {
    bth = address;
    if (bytes < Bth.BYTES + Icrc.BYTES) {
      return Verdict.TRUNCATED;
    }
    opcode = Bth.opcode(address);
    extended = address + Bth.BYTES;
    icrc = address + bytes - Icrc.BYTES;
    if (Bth.version(address) != 0) {
      return Verdict.BAD_VERSION;
    }
    headers = BthOpcode.headers(opcode);
    if (headers < 0) {
      headers = 0;
      return Verdict.BAD_OPCODE;
    }
    payload = extended + BthOpcode.headerBytes(opcode);
    if (payload > icrc) {
      return Verdict.TRUNCATED;
    }
    if (opcode == BthOpcode.CONGESTION_NOTIFICATION) {
      return Verdict.ROCE;
    }
    payloadBytes = (int) (icrc - payload) - Bth.padCount(address);
    boolean aligned = (icrc - payload & 3) == 0;
    if (!aligned || payloadBytes < 0 || (payloadBytes > 0 && !BthOpcode.hasPayload(opcode))) {
      return Verdict.BAD_LENGTH;
    }
    return Verdict.ROCE;
  }

  /** Returns the address of one of the extended headers that {@link #headers} names. */
  public long header(int which) {
    return extended + BthOpcode.bytesOf(headers & (which - 1));
  }

  /** Returns the source in the IP header. */
  public Gid source() {
    return ipv6
        ? Gid.read(ip + Ipv6Header.SOURCE_OFFSET)
        : Gid.ofIpv4(BigEndian.getInt(ip + Ipv4Header.SOURCE_OFFSET));
  }

  /** Returns the destination in the IP header. */
  public Gid destination() {
    return ipv6
        ? Gid.read(ip + Ipv6Header.DESTINATION_OFFSET)
        : Gid.ofIpv4(BigEndian.getInt(ip + Ipv4Header.DESTINATION_OFFSET));
  }

  /** DSCP and ECN. */
  public int trafficClass() {
    return ipv6 ? Ipv6Header.trafficClass(ip) : Ipv4Header.trafficClass(ip);
  }
}
