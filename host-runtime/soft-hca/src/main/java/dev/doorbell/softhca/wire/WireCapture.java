package dev.doorbell.softhca.wire;

import dev.doorbell.core.Basis;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.pcap.LinkType;
import dev.doorbell.core.pcap.PcapngWriter;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.Ipv4Header;
import dev.doorbell.core.roce.Ipv6Header;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Set;

/**
 * Captures what a wire carries into a pcapng file that Wireshark opens. Timestamps are the
 * fabric's: virtual nanoseconds from 0, or wall time. Costs nothing where none is attached. On the
 * thread that steps the wire.
 */
public final class WireCapture implements AutoCloseable {
  /** Comment on a packet that was lost where it arrived. */
  static final String DROPPED = "lost on arrival: a fault, or the port was down";

  /** Comment on a packet in which a fault has flipped a bit. */
  static final String CORRUPT = "a fault has flipped a bit";

  private static final long SECOND_NANOS = 1_000_000_000L;

  /** Room before the base transport header that suffices for the headers before it. */
  static final int ROOM = 64;

  private static final int DEFAULT_HOP_LIMIT = 64;

  /** A locally administered MAC address, for stations that have none. */
  private static final long LOCAL_MAC = 0x02_00_00_00_00_00L;

  private final PcapngWriter writer;
  private final String clock;
  private final long clockOffset;
  private final Icrc icrc = new Icrc();
  private final MemorySegment scratch = Arena.ofAuto().allocate(ROOM + RoceFrame.MAX_BYTES, 64);
  private final ByteBuffer scratchBytes = scratch.asByteBuffer();
  private Set<Integer> queuePairs = Set.of();
  private long encoded;
  private long flushed = System.nanoTime();
  private boolean closed;

  private WireCapture(PcapngWriter writer, Basis basis, long fabricNow) {
    this.writer = writer;
    boolean virtual = basis == Basis.MODELLED;
    clock = virtual ? "virtual nanoseconds" : "wall clock";
    Instant now = Instant.now();
    clockOffset = virtual ? 0 : now.getEpochSecond() * 1_000_000_000L + now.getNano() - fabricNow;
  }

  /**
   * Begins a capture.
   *
   * @param basis of the fabric's clock
   * @param fabricNow that clock now
   * @throws IOException when the file cannot be made
   */
  public static WireCapture create(Path file, String comment, Basis basis, long fabricNow)
      throws IOException {
    return new WireCapture(
        PcapngWriter.create(file, "Doorbell software HCA", comment), basis, fabricNow);
  }

  public int addInterface(String name) {
    return writer.addInterface(name, "%s, %s".formatted(name, clock), LinkType.ETHERNET);
  }

  /** Adds a frame that starts with an Ethernet header. */
  void frame(int interfaceNumber, long now, Direction direction, long address, int bytes) {
    if (!closed) {
      writer.frame(interfaceNumber, now + clockOffset, direction, address, bytes, "");
    }
  }

  /** Captures the packets of these queue pairs alone, as sender or as destination. */
  public void only(Set<Integer> numbers) {
    queuePairs = Set.copyOf(numbers);
  }

  /**
   * Frames a packet of a wire that has no bytes as RoCEv2 would, for {@link #write}. Datagrams name
   * their own GIDs.
   *
   * @return bytes of the frame; 0 if it is not captured
   */
  int encode(Packet packet, Gid from, Gid to) {
    boolean chosen =
        queuePairs.isEmpty()
            || queuePairs.contains(packet.originQpn)
            || queuePairs.contains(packet.destination);
    if (closed || !chosen) {
      return 0;
    }
    boolean named =
        packet.sourceGidLow != 0 && PacketOpcode.transport(packet.opcode) == BthOpcode.UD;
    Gid source = named ? new Gid(packet.sourceGidHigh, packet.sourceGidLow) : from;
    Gid destination = named ? new Gid(packet.destinationGidHigh, packet.destinationGidLow) : to;
    long bth = scratch.address() + ROOM;
    int bytes = PacketCodec.encode(packet, bth);
    int transport = bytes + Icrc.BYTES;
    encoded =
        writeV2(
            bth,
            transport,
            mac(destination),
            mac(source),
            source,
            destination,
            UdpHeader.connectionSourcePort(packet.originQpn, packet.destination),
            UdpHeader.ROCE_PORT,
            packet.trafficClass,
            packet.flowLabel,
            packet.hopLimit);
    long ip = encoded + EthernetHeader.BYTES;
    Icrc.write(
        bth + bytes,
        icrc.of(ip, !destination.isIpv4(), true, scratchBytes, ROOM + Bth.BYTES, ROOM + bytes));
    if (!destination.isIpv4()) {
      UdpHeader.putIpv6Checksum(ip);
    }
    return (int) (bth + transport - encoded);
  }

  /**
   * Writes the headers of RoCEv2 right before {@code bth}.
   *
   * @param transport bytes from the BTH to the ICRC, both included
   * @return address of the Ethernet header
   */
  static long writeV2(
      long bth,
      int transport,
      long destinationMac,
      long sourceMac,
      Gid source,
      Gid destination,
      int sourcePort,
      int destinationPort,
      int trafficClass,
      int flowLabel,
      int hopLimit) {
    int udpBytes = UdpHeader.BYTES + transport;
    long udp = bth - UdpHeader.BYTES;
    int hops = hopLimit == 0 ? DEFAULT_HOP_LIMIT : hopLimit;
    UdpHeader.write(udp, sourcePort, destinationPort, udpBytes);
    boolean ipv6 = !destination.isIpv4();
    long ip = udp - (ipv6 ? Ipv6Header.BYTES : Ipv4Header.BYTES);
    if (ipv6) {
      Ipv6Header.write(
          ip, trafficClass, flowLabel, udpBytes, Ipv6Header.UDP, hops, source, destination);
    } else {
      int bytes = Ipv4Header.BYTES + udpBytes;
      Ipv4Header.write(ip, trafficClass, bytes, 0, hops, source.ipv4(), destination.ipv4());
    }
    long frame = ip - EthernetHeader.BYTES;
    EthernetHeader.write(
        frame, destinationMac, sourceMac, ipv6 ? EthernetHeader.IPV6 : EthernetHeader.IPV4);
    return frame;
  }

  /**
   * Adds what was {@linkplain #encode encoded} last.
   *
   * @param now the fabric's clock
   * @param comment on the packet, or empty
   */
  void write(int interfaceNumber, long now, int bytes, String comment) {
    if (bytes > 0 && !closed) {
      writer.frame(interfaceNumber, now + clockOffset, Direction.OUTBOUND, encoded, bytes, comment);
    }
  }

  /** Flips a bit of what is to be {@linkplain #write written}: its ICRC is wrong then. */
  void corrupt(int bytes) {
    long last = encoded + bytes - 1;
    RawMemory.putByte(last, (byte) (RawMemory.getByte(last) ^ 1));
  }

  /** Writes what is buffered at most once a second, so that little is lost with the process. */
  public void flushEachSecond() {
    long now = System.nanoTime();
    if (!closed && now - flushed >= SECOND_NANOS) {
      flushed = now;
      writer.flush();
    }
  }

  private static long mac(Gid gid) {
    if (gid.isMulticast()) {
      return gid.multicastMac();
    }
    long mac = gid.linkLocalMac();
    return mac >= 0 ? mac : LOCAL_MAC | (gid.low() & 0xff_ffff);
  }

  /** Writes what is buffered, so that a reader sees it. */
  public void flush() {
    writer.flush();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      writer.close();
    }
  }
}
