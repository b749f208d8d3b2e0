package dev.doorbell.push.wire;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.push.network.Frame;
import dev.doorbell.push.network.Network;
import dev.doorbell.push.network.Network.Host;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import dev.doorbell.softhca.wire.WireFaults;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A wire between HCAs of one process over a {@link Network} in virtual time: what the network has
 * no room for is lost, and on the way in and out of each HCA things go wrong as its faults say.
 *
 * <p>The same HCAs, network, faults and seed carry the same packets at the same times to the last
 * one.
 */
public final class NetworkWire extends Wire {
  private static final double PICOS_PER_NANO = 1000;
  private static final int SMALLEST_WINDOW = 8;

  private final Network network;
  private final double bytesPerNano;
  private final int windowBytes;
  private final Map<String, Member> members = new LinkedHashMap<>();

  /**
   * A wire without members.
   *
   * @param bytesPerNano rate of each HCA's way out
   * @param windowBytes of frames that a connection may have in the network; more would be lost in
   *     its buffers. {@link Integer#MAX_VALUE} for no limit
   */
  public NetworkWire(Network network, double bytesPerNano, int windowBytes) {
    if (!(bytesPerNano > 0) || windowBytes <= 0) {
      throw new IllegalArgumentException(
          "rate %s bytes/ns, window %d bytes".formatted(bytesPerNano, windowBytes));
    }
    this.network = network;
    this.bytesPerNano = bytesPerNano;
    this.windowBytes = windowBytes;
  }

  /**
   * Plugs {@code station} in under its name.
   *
   * @throws HcaException when the name is taken or the HCA is on a wire already
   */
  public void join(Station station, WireFaults faults) {
    if (members.containsKey(station.name())) {
      throw new HcaException(
          "an HCA called '%s' is on this wire already; give each HCA a name of its own"
              .formatted(station.name()));
    }
    station.plug(this);
    members.put(station.name(), new Member(station, faults));
  }

  @Override
  public int window(int payloadBytes) {
    return windowBytes == Integer.MAX_VALUE
        ? Integer.MAX_VALUE
        : Math.max(SMALLEST_WINDOW, windowBytes / Packet.frameBytes(payloadBytes));
  }

  @Override
  public @Nullable Route route(Station from, String to) {
    Member member = members.get(from.name());
    Member peer = members.get(to);
    return peer == null || member == null ? null : new Way(member, peer);
  }

  @Override
  public @Nullable Route route(Station from, long gidHigh, long gidLow) {
    for (Member member : members.values()) {
      if (member.station.gidHigh() == gidHigh && member.station.gidLow() == gidLow) {
        return route(from, member.station.name());
      }
    }
    return null;
  }

  @Override
  public long @Nullable [] gid(String name) {
    Member member = members.get(name);
    return member == null ? null : new long[] {member.station.gidHigh(), member.station.gidLow()};
  }

  @Override
  public void leave(Station station) {
    Member member = members.get(station.name());
    if (member != null) {
      member.gone = true;
      member.discard();
    }
  }

  @Override
  public String members() {
    return String.join(", ", members.keySet());
  }

  /** A packet on the network. */
  private static final class PacketFrame extends Frame {
    final Packet packet;
    final boolean corrupt;

    PacketFrame(int source, int destination, Packet packet, boolean corrupt) {
      super(
          source,
          destination,
          packet.frameBytes(),
          (long) packet.originQpn << Integer.SIZE, // packets of a connection stay in order
          packet.opcode == BthOpcode.CONGESTION_NOTIFICATION);
      this.packet = packet;
      this.corrupt = corrupt;
    }

    @Override
    protected void lost() {
      packet.pool.release(packet);
    }
  }

  private static final class Way extends Route {
    private final Member from;
    private final Member to;

    Way(Member from, Member to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public void transmit(Packet packet) {
      from.transmit(packet, to.number);
    }

    @Override
    public void transmitCorrupt(Packet packet) {
      packet.keep();
      from.enqueue(packet, to.number, true);
    }
  }

  /** An HCA, the frames that wait to leave it, and those that have just come in. */
  private final class Member extends Completion.Cancellable implements Host {
    final Station station;
    final WireFaults faults;
    final int number;
    boolean gone;
    private final ArrayDeque<PacketFrame> leaving = new ArrayDeque<>();
    private final ArrayDeque<PacketFrame> entering = new ArrayDeque<>();
    private final Completion entered = this::entered;
    private long freePicos;
    private boolean sending;
    private boolean paused;

    /** Frame that a fault sends after the next packet. */
    private @Nullable PacketFrame late;

    Member(Station station, WireFaults faults) {
      this.station = station;
      this.faults = faults;
      this.number = network.attach(this);
    }

    void transmit(Packet packet, int to) {
      packet.keep();
      switch (faults.fate(packet, true)) {
        case DROP -> packet.pool.release(packet);
        case CORRUPT -> enqueue(packet, to, true);
        case SWAP -> {
          PacketFrame before = late;
          late = new PacketFrame(number, to, packet, false);
          if (before != null) {
            add(before);
          }
        }
        case DUPLICATE -> {
          Packet twin = packet.pool.take();
          if (twin != null) {
            twin.copyOf(packet);
            enqueue(twin, to, false);
          }
          enqueue(packet, to, false);
        }
        case PASS -> enqueue(packet, to, false);
      }
    }

    void enqueue(Packet packet, int to, boolean corrupt) {
      add(new PacketFrame(number, to, packet, corrupt));
      PacketFrame before = late;
      if (before != null) {
        late = null;
        add(before);
      }
    }

    private void add(PacketFrame frame) {
      if (frame.urgent) {
        // It overtakes what waits, and no pause holds it.
        long nanos = Math.round(frame.bytes() / bytesPerNano);
        station.port().timer(nanos, ok -> network.send(frame));
        return;
      }
      leaving.add(frame);
      if (!sending) {
        start();
      }
    }

    private void start() {
      PacketFrame frame = paused ? null : leaving.peek();
      sending = frame != null;
      if (frame == null) {
        return;
      }
      long now = Math.round(station.port().now() * PICOS_PER_NANO);
      freePicos =
          Math.max(freePicos, now) + Math.round(frame.bytes() * PICOS_PER_NANO / bytesPerNano);
      station.port().timer(Math.round((freePicos - now) / PICOS_PER_NANO), this);
    }

    /** The oldest frame has left. */
    @Override
    public void completed(boolean ok) {
      PacketFrame frame = leaving.poll();
      if (frame != null) {
        frame.packet.leaves(0);
        network.send(frame);
      }
      start();
    }

    @Override
    public void pause(boolean stop) {
      paused = stop;
      if (!stop && !sending) {
        start();
      }
    }

    @Override
    public void arrive(Frame frame) {
      PacketFrame whole = (PacketFrame) frame;
      if (gone || whole.corrupt) {
        whole.lost();
        return;
      }
      if (whole.congested()) {
        whole.packet.mark();
      }
      entering.add(whole);
      station.port().timer(station.receiveNanos(whole.packet), entered);
    }

    private void entered(boolean ok) {
      PacketFrame frame = entering.poll();
      if (frame == null) {
        return;
      }
      Packet packet = frame.packet;
      WireFaults.Fate fate = faults.fate(packet, false);
      if (gone || fate == WireFaults.Fate.DROP) {
        packet.pool.release(packet);
        return;
      }
      Packet twin = fate == WireFaults.Fate.DUPLICATE ? packet.pool.take() : null;
      if (twin != null) {
        twin.copyOf(packet);
        station.deliver(twin);
      }
      station.deliver(packet);
    }

    void discard() {
      while (!leaving.isEmpty()) {
        leaving.remove().lost();
      }
      while (!entering.isEmpty()) {
        entering.remove().lost();
      }
      PacketFrame before = late;
      late = null;
      if (before != null) {
        before.lost();
      }
    }
  }
}
