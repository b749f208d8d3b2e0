package dev.doorbell.softhca;

import dev.doorbell.core.hca.HcaException;
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
  /**
   * Preamble and start 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, frame check 4, inter-frame
   * gap 12.
   */
  private static final int FRAME_OVERHEAD = 82;

  private static final int SMALLEST_FRAME = 84;

  private final long latencyNanos;
  private final double picosPerByte;
  private final Map<String, SoftHca> members = new LinkedHashMap<>();

  /** A wire that takes no time. */
  public InProcessWire() {
    this(0, 0);
  }

  /**
   * A wire that takes virtual time.
   *
   * @param latencyNanos from the last bit's departure to its arrival
   * @param gigabitsPerSecond of each HCA's way out; 0 means without limit
   */
  public InProcessWire(long latencyNanos, double gigabitsPerSecond) {
    if (latencyNanos < 0 || !(gigabitsPerSecond >= 0)) {
      throw new IllegalArgumentException(
          "wire latency %d ns, bandwidth %s Gbit/s: neither may be negative"
              .formatted(latencyNanos, gigabitsPerSecond));
    }
    this.latencyNanos = latencyNanos;
    this.picosPerByte = gigabitsPerSecond == 0 ? 0 : 8_000 / gigabitsPerSecond;
  }

  /**
   * Plugs {@code hca} in under its name.
   *
   * @throws HcaException when the name is taken or the HCA has connected queue pairs
   */
  public void join(SoftHca hca) {
    SoftHca other = members.putIfAbsent(hca.name(), hca);
    if (other != null) {
      throw new HcaException(
          "an HCA called '%s' is on this wire already; give each HCA a name of its own"
              .formatted(hca.name()));
    }
    hca.plug(this);
  }

  @Override
  @Nullable Route route(SoftHca from, String to) {
    SoftHca peer = members.get(to);
    return peer == null ? null : new InProcessRoute(from, peer);
  }

  @Override
  void leave(SoftHca hca) {
    members.remove(hca.name(), hca);
  }

  @Override
  String members() {
    return String.join(", ", members.keySet());
  }

  private final class InProcessRoute extends Route {
    private final SoftHca from;
    private final SoftHca to;
    private final boolean timed;

    InProcessRoute(SoftHca from, SoftHca to) {
      this.from = from;
      this.to = to;
      this.timed = latencyNanos != 0 || picosPerByte != 0 || to.timing.receiveNanos() != 0;
    }

    @Override
    void transmit(Packet packet) {
      packet.phase = Packet.Phase.TRAVELLING;
      if (!timed || from.port.delay(travelNanos(packet), packet)) {
        to.deliver(packet);
      }
    }

    @Override
    void arrived(Packet packet) {
      to.deliver(packet);
    }

    private long travelNanos(Packet packet) {
      long nanos = latencyNanos + to.timing.receiveNanos();
      if (picosPerByte != 0) {
        int padded = (packet.bytes + 3) & ~3;
        int frame =
            Math.max(
                SMALLEST_FRAME,
                FRAME_OVERHEAD + PacketOpcode.extendedHeaderBytes(packet.opcode) + padded);
        long now = from.port.now() * 1_000;
        from.wireFreePicos = Math.max(from.wireFreePicos, now) + (long) (frame * picosPerByte);
        nanos += (from.wireFreePicos - now + 500) / 1_000;
      }
      return nanos;
    }
  }
}
