package dev.doorbell.softhca.wire;

import dev.doorbell.softhca.packet.Packet;
import java.util.function.Predicate;

/** Drops the packets that a test names. */
final class PacketLoss implements WireFaults {
  private Predicate<Packet> leaving = packet -> false;
  private Predicate<Packet> arriving = packet -> false;
  private int left;
  int dropped;

  void none() {
    left = 0;
    dropped = 0;
  }

  void dropLeaving(int times, Predicate<Packet> which) {
    none();
    left = times;
    leaving = which;
    arriving = packet -> false;
  }

  void dropArriving(int times, Predicate<Packet> which) {
    none();
    left = times;
    arriving = which;
    leaving = packet -> false;
  }

  @Override
  public Fate fate(Packet packet, boolean isLeaving) {
    if (left == 0 || !(isLeaving ? leaving : arriving).test(packet)) {
      return Fate.PASS;
    }
    left--;
    dropped++;
    return Fate.DROP;
  }
}
