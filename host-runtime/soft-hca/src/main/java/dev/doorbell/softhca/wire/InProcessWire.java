package dev.doorbell.softhca.wire;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A lossless wire in order between HCAs of one process.
 *
 * <p>Latency and bandwidth are in virtual time; under a fabric without it, packets arrive at once.
 * Bandwidth is that of each HCA's way out, and counts whole RoCEv2 frames (Ethernet preamble to
 * inter-frame gap). All HCAs of a wire are stepped by one host thread.
 */
public final class InProcessWire extends Wire {
  private final long latencyNanos;
  private final double picosPerByte;
  private final int lessFraming;
  private final Map<String, Member> members = new LinkedHashMap<>();
  private @Nullable WireCapture capture;
  private boolean checksSenders;

  /** A station, and when its way out is free again in picoseconds of virtual time. */
  private static final class Member {
    final Station station;
    final Gid gid;
    int captureInterface;
    long freePicos;

    Member(Station station) {
      this.station = station;
      this.gid = new Gid(station.gidHigh(), station.gidLow());
    }
  }

  /** A wire that takes no time. */
  public InProcessWire() {
    this(0, 0);
  }

  /** A wire that takes virtual time, with whole frames. */
  public InProcessWire(long latencyNanos, double gigabitsPerSecond) {
    this(latencyNanos, gigabitsPerSecond, 0);
  }

  /**
   * A wire that takes virtual time.
   *
   * @param latencyNanos from the last bit's departure to its arrival
   * @param gigabitsPerSecond of each HCA's way out; 0 means without limit
   * @param lessFraming bytes of a RoCEv2 frame that a packet does not have on this wire
   */
  public InProcessWire(long latencyNanos, double gigabitsPerSecond, int lessFraming) {
    if (latencyNanos < 0 || !(gigabitsPerSecond >= 0)) {
      throw new IllegalArgumentException(
          "wire latency %d ns, bandwidth %s Gbit/s: neither may be negative"
              .formatted(latencyNanos, gigabitsPerSecond));
    }
    this.latencyNanos = latencyNanos;
    this.lessFraming = lessFraming;
    this.picosPerByte = gigabitsPerSecond == 0 ? 0 : 8_000 / gigabitsPerSecond;
  }

  /**
   * Plugs {@code station} in under its name.
   *
   * @throws HcaException when the name is taken or the HCA is on a wire already
   */
  public void join(Station station) {
    Member other = members.putIfAbsent(station.name(), new Member(station));
    if (other != null) {
      throw new HcaException(
          "an HCA called '%s' is on this wire already; give each HCA a name of its own"
              .formatted(station.name()));
    }
    station.plug(this);
    station.port().apart(latencyNanos);
  }

  /**
   * From now on a connection accepts packets of the queue pair that it is connected to alone. A NIC
   * cannot know that, and checks the GID; where programs share one server, one could send as
   * another.
   */
  public void checkSenders() {
    checksSenders = true;
  }

  /**
   * Captures what members send from now on, framed as RoCEv2 between their GIDs, in the order of
   * time, so that no member runs beside another; ends an earlier capture's part. Join the members
   * first. Null for none.
   */
  public void capture(@Nullable WireCapture into) {
    capture = into;
    if (into != null) {
      for (Member member : members.values()) {
        member.captureInterface = into.addInterface(member.station.name());
        member.station.port().apart(0);
      }
    }
  }

  @Override
  public @Nullable Route route(Station from, String to) {
    Member peer = members.get(to);
    Member member = members.get(from.name());
    return peer == null || member == null ? null : new InProcessRoute(member, peer);
  }

  @Override
  public @Nullable Route route(Station from, long gidHigh, long gidLow) {
    for (Member member : members.values()) {
      Station station = member.station;
      if (station.hasGid(gidHigh, gidLow)) {
        return route(from, station.name());
      }
    }
    return null;
  }

  @Override
  public @Nullable Route everybody(Station from) {
    Member member = members.get(from.name());
    return member == null ? null : new ManyRoutes(member);
  }

  @Override
  public long @Nullable [] gid(String name) {
    Member member = members.get(name);
    return member == null ? null : new long[] {member.station.gidHigh(), member.station.gidLow()};
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a station is itself alone
  public void leave(Station station) {
    Member member = members.get(station.name());
    if (member != null && member.station == station) {
      members.remove(station.name());
    }
  }

  @Override
  public String members() {
    return String.join(", ", members.keySet());
  }

  /** The way to all members. A copy that the sender has no packet for is lost. */
  private final class ManyRoutes extends Route {
    private final Member from;

    ManyRoutes(Member from) {
      this.from = from;
    }

    @Override
    public void transmit(Packet packet) {
      WireCapture into = capture;
      if (into != null) {
        int bytes = into.encode(packet, from.gid, from.gid);
        into.write(from.captureInterface, from.station.port().now(), bytes, "");
      }
      for (Member member : members.values()) {
        Packet copy = packet.pool.take();
        if (copy != null) {
          copy.copyOf(packet);
          new InProcessRoute(from, member).carry(copy);
        }
      }
      packet.pool.release(packet);
    }
  }

  private final class InProcessRoute extends Route {
    private final Member from;
    private final Station to;
    private final Member peer;
    private final Gid fromGid;
    private final Gid toGid;
    private final boolean timed;

    InProcessRoute(Member from, Member peer) {
      this(from, peer, from.gid, peer.gid);
    }

    private InProcessRoute(Member from, Member peer, Gid fromGid, Gid toGid) {
      this.from = from;
      this.peer = peer;
      this.to = peer.station;
      this.fromGid = fromGid;
      this.toGid = toGid;
      this.timed = latencyNanos != 0 || picosPerByte != 0 || to.delaysArrivals();
    }

    @Override
    public Route between(Gid source, Gid destination) {
      return source.isIpv4() == destination.isIpv4()
          ? new InProcessRoute(from, peer, source, destination)
          : this;
    }

    @Override
    public void transmit(Packet packet) {
      WireCapture into = capture;
      if (into == null) {
        carry(packet);
        return;
      }
      long now = from.station.port().now();
      long lost = to.counters().lost;
      int bytes = into.encode(packet, fromGid, toGid);
      carry(packet);
      into.write(
          from.captureInterface, now, bytes, to.counters().lost == lost ? "" : WireCapture.DROPPED);
    }

    private void carry(Packet packet) {
      if (timed && from.station.port().runsBeside(to.port())) {
        packet.handOver();
      }
      if (!timed
          || from.station.port().delay(to.port(), travelNanos(packet), packet.travel(this))) {
        to.deliver(packet);
      }
    }

    @Override
    public void transmitCorrupt(Packet packet) {
      if (timed) {
        travelNanos(packet);
      }
      WireCapture into = capture;
      int bytes = into == null ? 0 : into.encode(packet, fromGid, toGid);
      if (into != null && bytes > 0) {
        into.corrupt(bytes);
        into.write(from.captureInterface, from.station.port().now(), bytes, WireCapture.CORRUPT);
      }
      to.counters().add(Counter.RX_ICRC_ENCAPSULATED);
      packet.pool.release(packet);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // an HCA's packets are of its own pool
    public boolean accepts(Packet packet, int peer) {
      return !checksSenders || (packet.pool == to.packets() && packet.originQpn == peer);
    }

    @Override
    public @Nullable Station immediate() {
      return timed || capture != null ? null : to;
    }

    @Override
    public void arrived(Packet packet) {
      to.deliver(packet);
    }

    private long travelNanos(Packet packet) {
      long leaving = 0;
      if (picosPerByte != 0) {
        long now = from.station.port().now() * 1_000;
        from.freePicos =
            Math.max(from.freePicos, now)
                + (long) ((packet.frameBytes() - lessFraming) * picosPerByte);
        leaving = (from.freePicos - now + 500) / 1_000;
      }
      packet.leaves(leaving);
      return latencyNanos + to.receiveNanos(packet) + leaving;
    }
  }
}
