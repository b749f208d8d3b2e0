package dev.doorbell.softhca.wire;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.pcap.LinkType;
import dev.doorbell.core.pcap.PcapngWriter;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
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
import org.jspecify.annotations.Nullable;

/**
 * Captures what a wire carries into a pcapng file that Wireshark opens. Timestamps are the
 * fabric's: virtual nanoseconds from 0, or wall time. Costs nothing where none is attached,
 * allocates nothing a packet where one is. On the thread that steps the wire.
 */
public final class WireCapture implements AutoCloseable {
  private static final int ROOM = FrameLink.ROOM;

  /** A locally administered MAC address, for stations that have none. */
  private static final long LOCAL_MAC = 0x02_00_00_00_00_00L;

  private final PcapngWriter writer;
  private final String clock;
  private final long clockOffset;
  private final Icrc icrc = new Icrc();
  private final MemorySegment scratch = Arena.ofAuto().allocate(ROOM + RoceFrame.MAX_BYTES, 64);
  private final ByteBuffer scratchBytes = scratch.asByteBuffer();
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

  /** Adds an interface and returns its number. */
  public int addInterface(String name) {
    return writer.addInterface(name, "%s, %s".formatted(name, clock), LinkType.ETHERNET);
  }

  /** Adds a frame that starts with an Ethernet header. */
  void frame(int interfaceNumber, long now, Direction direction, long address, int bytes) {
    if (!closed) {
      writer.frame(interfaceNumber, now + clockOffset, direction, address, bytes);
    }
  }

  /**
   * Adds a packet of a wire that has no bytes, framed as RoCEv2 would, or an Ethernet frame.
   *
   * @param now the fabric's clock
   */
  public void packet(int interfaceNumber, long now, Packet packet, Gid source, Gid destination) {
    if (closed) {
      return;
    }
    if (packet.opcode == PacketOpcode.FRAME) {
      frame(interfaceNumber, now, Direction.OUTBOUND, packet.payload, packet.bytes);
      return;
    }
    long bth = scratch.address() + ROOM;
    int bytes = PacketCodec.encode(packet, bth);
    int transport = bytes + Icrc.BYTES;
    long frame =
        FrameLink.writeV2(
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
    long ip = frame + EthernetHeader.BYTES;
    Icrc.write(
        bth + bytes,
        icrc.of(ip, !destination.isIpv4(), true, scratchBytes, ROOM + Bth.BYTES, ROOM + bytes));
    writer.frame(
        interfaceNumber,
        now + clockOffset,
        Direction.OUTBOUND,
        frame,
        (int) (bth + transport - frame));
  }

  private static long mac(Gid gid) {
    if (gid.isMulticast()) {
      return gid.multicastMac();
    }
    long mac = gid.linkLocalMac();
    return mac >= 0 ? mac : LOCAL_MAC | (gid.low() & 0xff_ffff);
  }

  /** Frames so far. */
  public long frames() {
    return writer.frames();
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

  /** Passes a wire's frames to a capture, if there is one. */
  static final class Tap {
    private final Fabric fabric;
    private @Nullable WireCapture capture;
    private int number;

    Tap(Fabric fabric) {
      this.fabric = fabric;
    }

    /** Captures from now on, as an interface of that name; null for no longer. */
    void into(@Nullable WireCapture into, String name) {
      capture = into;
      if (into != null) {
        number = into.addInterface(name);
      }
    }

    boolean isOn() {
      return capture != null;
    }

    /** A frame that starts with an Ethernet header. */
    void frame(Direction direction, long address, int bytes) {
      WireCapture into = capture;
      if (into != null) {
        into.frame(number, fabric.now(), direction, address, bytes);
      }
    }
  }
}
